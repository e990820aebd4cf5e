# SPDX-License-Identifier: MIT
"""The explorer catches faults of the transactions' protocol that reorder nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from mutation.faults import STRUCTURES, TextFault, assert_caught

SOURCES = STRUCTURES / "transaction"


def fault(
    file: str, right: str, wrong: str, client: str, variant: str = "transaction"
) -> TextFault:
    """A fault in a file of the transactions, and the client that has to notice it."""
    return TextFault(SOURCES / file, right, wrong, "transaction", variant, client)


FAULTS = {
    "the lock is not read again": fault(
        "transaction.h", "version_is_still(lock, version) &&", "", "snapshot"
    ),
    "nor after a conflict": fault(
        "commit.c", "if (!version_is_still(lock, version))", "if (false)", "twice"
    ),
    "a newer version is accepted": fault(
        "transaction.h",
        "version <= tx->now &&",
        "version < VERSION_LOCKED &&",
        "extend",
    ),
    "time moves on without a check": fault(
        "commit.c", "    if (!reads_are_valid(tx))", "    if (false)", "snapshot"
    ),
    "a transaction begins after its thread's last commit": fault(
        "commit.c", "tx->own = time;", "tx->own = time + CLOCK_STEP;", "after-own"
    ),
    "the commit does not check its loads": fault(
        "commit.c", "unlikely(!reads_are_valid(tx))", "false", "increments"
    ),
    "a commit ignores that the clock is closed": fault(
        "commit.c", "if (unlikely(before & CLOCK_CLOSED))", "if (false)", "alone"
    ),
    "a direct store ignores it": fault(
        "direct.c", "likely(!(before & CLOCK_CLOSED))", "true", "direct-stores"
    ),
    "an abort leaves the clock closed": fault(
        "attempt.c",
        "        if (!opened && !tx->client)\n"
        "            clock_open(&memory->clock);\n",
        "        (void)opened;\n",
        "alone-reads",
    ),
    "words are stored before the stripes are locked": fault(
        "writes.h",
        "    write->value = value;\n",
        "    write->value = value;\n    store_release(word, value);\n",
        "snapshot",
    ),
    "own stripes count as unchanged": fault(
        "commit.c", "version = version_before(tx, lock);", "continue;", "increments"
    ),
    "a stripe is released twice": fault(
        "commit.c",
        "            write->lock = NULL;\n            return true;",
        "            write->lock = lock;\n            write->before = 0;\n"
        "            return true;",
        "neighbours",
    ),
    "memory is freed at once": fault(
        "blocks.c",
        "        retired_push(list, &block->retired);\n",
        "        (void)list, give(memory, block);\n",
        "free",
    ),
    "a transaction is no section of the epochs": fault(
        "attempt.c",
        "tx->outermost = epochs_enter(tx->memory->epochs, record);",
        "tx->outermost = true;",
        "free",
    ),
    "the wait for privacy is left out": fault(
        "direct.c", "now < first + EPOCHS_APART", "false", "private"
    ),
    "a service takes a failed exchange for an abort": fault(
        "services.c",
        "TX_ABORTED)) /* M5 */\n                return busy(other);",
        "TX_ABORTED) &&\n                status_state(status) == TX_COMMITTING)"
        "\n                return busy(other);",
        "increments",
        "messages",
    ),
    "a commit ignores that a service has aborted it": fault(
        "clients.c",
        "        return fail(tx, ANSWER_LOST + status_cause(running));",
        "        {}",
        "increments",
        "messages",
    ),
    "a load ignores that a service has aborted it": fault(
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
    assert_caught(FAULTS[name], tmp_path)
