# SPDX-License-Identifier: MIT
"""The mutation tool finds mutants, and the explorer catches a sample of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import mutant_checker  # noqa: E402
from mutant_checker import Checker  # noqa: E402
from mutants import find_mutants, path_of  # noqa: E402
from mutate_locks import all_tasks, baseline, run  # noqa: E402

HEADER = """\
/* store_release(&lock->word, 0) in a comment is not a mutant */
#define FIVE store_relaxed(c, 5)
static inline __attribute__((always_inline)) void
x_unlock(struct lock *lock)
{
    if (exchange_acq_rel(&lock->word, at(0, 1)) == 2)
        unpark(&lock->word, 1);
    fence_seq_cst();
}

USUAL(x, (1))
static bool x_fast(struct lock *lock)
{
    return acquire_if(&lock->word, 0, 1) || acquire_if(&lock->word, 0, 1);
}
"""

# A required order or wake-up in each of these files, given by the start of the mutant's
# text. The checker must reject the mutant.
SAMPLE = {
    "ttas": ("algorithms/tas.h", "store_release("),
    "tas": ("algorithms/tas.h", "test_and_set_acquire("),
    "ticket": ("algorithms/tickets.h", "load_acquire(&tickets_of(lock)->serving"),
    "mcs": ("algorithms/mcs_queue.h", "exchange_acq_rel("),
    "mcs-park": ("waiting/policies.h", "unpark("),
    "clh": ("algorithms/clh.h", "exchange_acq_rel("),
    "mutexee": ("algorithms/barging.h", "unpark("),
    "futex": ("algorithms/futex.c", "heavy_barrier("),
    "mutex:ttas": ("algorithms/tas.h", "store_release("),
    "c-rw-rp": ("rwlocks/algorithms/reader_gates.h", "fetch_add_release(&gate"),
    "spinlock:ticket": ("spinlocks/algorithms/ticket.h", "store_release("),
    "barrier:tournament": ("barriers/cells.h", "unpark(cell, 1"),
}


def test_operations_in_comments_are_ignored() -> None:
    found = [(it.function, it.weakened) for it in find_mutants("x.h", HEADER)]
    assert found == [
        ("x_unlock", "release"),
        ("x_unlock", "acquire"),
        ("x_unlock", "dropped"),
        ("x_unlock", "dropped"),
        ("x_fast", "relaxed"),
        ("x_fast", "relaxed"),
    ]


def test_mutants_change_the_named_operation() -> None:
    first, second, wake, fence, _, last = find_mutants("x.h", HEADER)
    assert "exchange_release(&lock->word, at(0, 1)) == 2" in first.apply(HEADER)
    assert "exchange_acquire(&lock->word, at(0, 1)) == 2" in second.apply(HEADER)
    assert "        ((void)0);\n" in wake.apply(HEADER)
    assert "    ((void)0);\n}" in fence.apply(HEADER)
    relaxed = "|| compare_exchange_relaxed(&lock->word, &(uint32_t){0}, 1);"
    assert relaxed in last.apply(HEADER)
    assert last.key.endswith("acquire_if(&lock->word, 0, 1) #2 -> relaxed")


@pytest.fixture(scope="module")
def checker(build_dir: Path) -> Checker:
    return Checker(build_dir)


# One of each folder that mutants are made of; the others are slow.
QUICK = {"ttas", "mcs-park", "spinlock:ticket", "barrier:tournament"}


@pytest.mark.parametrize(
    "lock",
    [
        pytest.param(lock, marks=() if lock in QUICK else pytest.mark.slow)
        for lock in SAMPLE
    ],
)
def test_sampled_mutant_is_caught(checker: Checker, lock: str) -> None:
    file, operation = SAMPLE[lock]
    text = path_of(file).read_text(encoding="utf-8")
    mutant = next(
        it
        for it in find_mutants(file, text)
        if it.operation.startswith(operation) and "_forget" not in it.function
    )
    assert checker.check(lock, file, mutant.apply(text), 100_000).caught_by


def test_an_unchanged_lock_passes(checker: Checker) -> None:
    said = checker.check("ttas", "", "", 10_000)
    assert not said.caught_by, said
    assert said.bounds


def test_a_check_that_does_not_end_is_an_error(
    checker: Checker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first commands are compilers here: one that does not end, either."""
    monkeypatch.setattr(mutant_checker, "STUCK_SECONDS", 0.001)
    [task, *_] = all_tasks(["algorithms/tas.h"])
    row = run(checker, task, [10])
    assert row["outcome"] == "error"
    assert "no end within" in row["detail"]
    assert baseline(checker, [task], 1) == {*task.locks}
