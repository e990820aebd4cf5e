# SPDX-License-Identifier: MIT
"""The explorer catches faults of the transactions' protocol that reorder nothing."""

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

SOURCES = ROOT / "src/structures/transaction"


@dataclass(frozen=True)
class Fault:
    """A text of a file, and the wrong one in its place."""

    file: str
    right: str
    wrong: str
    client: str  # that has to notice it
    variant: str = "transaction"

    @property
    def path(self) -> Path:
        return SOURCES / self.file

    @property
    def structure(self) -> Structure:
        return KINDS["transaction"]

    @property
    def mutant(self) -> Fault:
        return self

    def apply(self, text: str) -> str:
        assert text.count(self.right) == 1, self.right
        return text.replace(self.right, self.wrong)


FAULTS = {
    "the lock is not read again": Fault(
        "transaction.h", "version_is_still(lock, version) &&", "", "snapshot"
    ),
    "nor after a conflict": Fault(
        "commit.c", "if (!version_is_still(lock, version))", "if (false)", "twice"
    ),
    "a newer version is accepted": Fault(
        "transaction.h",
        "version <= tx->now &&",
        "version < VERSION_LOCKED &&",
        "extend",
    ),
    "time moves on without a check": Fault(
        "commit.c", "    if (!reads_are_valid(tx))", "    if (false)", "snapshot"
    ),
    "a transaction begins after its thread's last commit": Fault(
        "commit.c", "tx->own = time;", "tx->own = time + CLOCK_STEP;", "after-own"
    ),
    "the commit does not check its loads": Fault(
        "commit.c", "unlikely(!reads_are_valid(tx))", "false", "increments"
    ),
    "a commit ignores that the clock is closed": Fault(
        "commit.c", "if (unlikely(before & CLOCK_CLOSED))", "if (false)", "alone"
    ),
    "a direct store ignores it": Fault(
        "direct.c", "likely(!(before & CLOCK_CLOSED))", "true", "direct-stores"
    ),
    "an abort leaves the clock closed": Fault(
        "attempt.c",
        "        if (!opened && !tx->client)\n"
        "            clock_open(&memory->clock);\n",
        "        (void)opened;\n",
        "alone-reads",
    ),
    "words are stored before the stripes are locked": Fault(
        "writes.h",
        "    write->value = value;\n",
        "    write->value = value;\n    store_release(word, value);\n",
        "snapshot",
    ),
    "own stripes count as unchanged": Fault(
        "commit.c", "version = version_before(tx, lock);", "continue;", "increments"
    ),
    "a stripe is released twice": Fault(
        "commit.c",
        "            write->lock = NULL;\n            return true;",
        "            write->lock = lock;\n            write->before = 0;\n"
        "            return true;",
        "neighbours",
    ),
    "memory is freed at once": Fault(
        "blocks.c",
        "        retired_push(list, &block->retired);\n",
        "        (void)list, give(memory, block);\n",
        "free",
    ),
    "a transaction is no section of the epochs": Fault(
        "attempt.c",
        "tx->outermost = epochs_enter(tx->memory->epochs, record);",
        "tx->outermost = true;",
        "free",
    ),
    "the wait for privacy is left out": Fault(
        "direct.c", "now < first + EPOCHS_APART", "false", "private"
    ),
    "a service takes a failed exchange for an abort": Fault(
        "services.c",
        "TX_ABORTED))\n                return busy(other);",
        "TX_ABORTED) &&\n                status_state(status) == TX_COMMITTING)"
        "\n                return busy(other);",
        "increments",
        "messages",
    ),
    "a commit ignores that a service has aborted it": Fault(
        "clients.c",
        "        return fail(tx, ANSWER_LOST + status_cause(running));",
        "        {}",
        "increments",
        "messages",
    ),
    "a load ignores that a service has aborted it": Fault(
        "clients.c",
        "    uint64_t found = load_acquire(word); /* M4 */\n    result = check(tx);",
        "    uint64_t found = load_acquire(word); /* M4 */",
        "snapshot",
        "messages",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(FAULTS))
def test_it_is_caught(name: str, tmp_path: Path) -> None:
    fault = FAULTS[name]
    build = Build(native.program("hasp-explore").parents[2])
    program = build.make(tmp_path, fault)  # type: ignore[arg-type]
    words = ["--kind", "transaction", "--lock", fault.variant, "--quiet"]
    done = build.run([str(program), *words, "--client", fault.client])
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["client"] for row in rows] == [fault.client], done.stderr
    assert rows[0]["verdict"] != "ok"
