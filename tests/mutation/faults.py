# SPDX-License-Identifier: MIT
"""Seeded faults of src/structures: a text replaced, and the client that notices it."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from hasp.locks import native

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from mutate_structures import KINDS, Build, Structure  # noqa: E402

STRUCTURES = ROOT / "src/structures"


@dataclass(frozen=True)
class TextFault:
    """A text of a file, and the wrong one in its place; a task of mutate_structures."""

    path: Path
    right: str
    wrong: str
    part: str  # of KINDS of mutate_structures
    variant: str
    client: str  # that has to notice it

    @property
    def structure(self) -> Structure:
        return KINDS[self.part]

    @property
    def mutant(self) -> TextFault:
        return self

    def apply(self, text: str) -> str:
        assert text.count(self.right) == 1, self.right
        return text.replace(self.right, self.wrong)


def assert_caught(fault: TextFault, folder: Path) -> None:
    """Build the explorer with the fault in `folder`, and run its client."""
    build = Build(native.program("hasp-explore").parents[2])
    program = build.make(folder, fault)  # type: ignore[arg-type]
    words = ["--kind", fault.structure.kind, "--lock", fault.variant, "--quiet"]
    done = build.run([str(program), *words, "--client", fault.client])
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["client"] for row in rows] == [fault.client], done.stderr
    assert rows[0]["verdict"] != "ok"
