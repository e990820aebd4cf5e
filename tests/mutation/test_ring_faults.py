# SPDX-License-Identifier: MIT
"""The explorer catches faults of the rings' protocol that reorder nothing."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from hasp.locks import native

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from mutate_structures import KINDS, Build, Structure  # noqa: E402


@dataclass(frozen=True)
class Fault:
    """A text of the header, and the wrong one in its place."""

    right: str
    wrong: str
    client: str  # that has to notice it
    path: Path = ROOT / "src/structures/channel/ring.h"

    @property
    def structure(self) -> Structure:
        return KINDS["ring.h"]

    @property
    def mutant(self) -> Fault:
        return self

    def apply(self, text: str) -> str:
        assert text.count(self.right) == 1, self.right
        return text.replace(self.right, self.wrong)


FAULTS = {
    "the next line is not overwritten": Fault(
        "store_relaxed(&lines[end & sender->mask].header, (uint64_t)end << 32);",
        "(void)end;",
        "likeness",
    ),
    "it is overwritten with the number that is awaited": Fault(
        "(uint64_t)end << 32);", "ring_header(end, 0));", "wrap"
    ),
    "it may still be part of a message": Fault(
        "needed = skipped + lines + 1;", "needed = skipped + lines;", "full"
    ),
    "the skipped lines are not free": Fault(
        "needed = skipped + lines + 1;", "needed = lines + 1;", "wrap"
    ),
    "what was skipped is not announced": Fault(
        "receiver->mask + 1 - (receiver->position & receiver->mask);", "0;", "wrap"
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(FAULTS))
def test_it_is_caught(name: str, tmp_path: Path) -> None:
    fault = FAULTS[name]
    build = Build(native.program("hasp-explore").parents[2])
    program = build.make(tmp_path, fault)  # type: ignore[arg-type]
    words = ["--kind", "ring", "--lock", "spin", "--quiet", "--client", fault.client]
    done = build.run([str(program), *words])
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["client"] for row in rows] == [fault.client], done.stderr
    assert rows[0]["verdict"] != "ok"
