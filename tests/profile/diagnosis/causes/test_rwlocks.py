# SPDX-License-Identifier: MIT
"""Reader-writer locks that all threads write, or whose readers write no shared line."""

from __future__ import annotations

from dataclasses import replace

from hasp.profile.diagnosis.diagnose import diagnose
from hasp.profile.model.profile import Kind, Operation, Profile, SiteStats

from .parts import MS, US, program, site, use


def rwlock(reads: SiteStats, writes: SiteStats, **more: object) -> Profile:
    made = site(reads + writes, kind=Kind.RWLOCK, name="index.c:9 &index->lock")
    both = {Operation.READ: reads, Operation.WRITE: writes}
    made = replace(made, stats=both, threads=dict.fromkeys((2, 3, 4, 5), both))
    return replace(program(made), **more)  # type: ignore[arg-type]


def test_writes_that_also_delay_writes() -> None:
    """Each thread reads often and writes seldom, and more of its writes wait."""
    found = diagnose(
        rwlock(use(400_000, 3000, 50 * US, 100), use(50_000, 4000, 5 * MS, 80 * US))
    )
    assert found.lead.id == "blocked-readers", found.sentence


def test_a_lock_that_is_mostly_written_has_a_long_section() -> None:
    found = diagnose(
        rwlock(use(1000, 100, MS, 100), use(50_000, 4000, 5 * MS, 80 * US))
    )
    assert found.lead.id == "long-section", found.sentence


def test_a_counter_that_is_written_under_a_rwlock() -> None:
    writes = use(40_000_000, 900_000, 6 * US, 30, owner_changes=20_000_000)
    found = diagnose(rwlock(use(2000, 20, US, 30), writes))
    assert (found.lead.id, found.lead.remedy) == ("tiny-section", "use-atomic")


def reading(algorithm: str) -> Profile:
    other = {Kind.RWLOCK: algorithm} if algorithm else {}
    reads = use(60_000_000, 1000, US, 40, owner_changes=30_000_000)
    return rwlock(reads, use(20, 2, US, US), other_locks=other)


def test_readers_with_lines_of_their_own_do_not_disturb_each_other() -> None:
    assert diagnose(reading("")).lead.id == "blocked-readers"
    found = diagnose(reading("bravo+rw-futex"))
    assert "blocked-readers" not in [one.id for one in (found.lead, *found.others)]


def test_readers_need_not_wait_to_disturb_each_other() -> None:
    reads = use(60_000_000, 0, 0, 40, owner_changes=30_000_000)
    found = diagnose(rwlock(reads, use(20, 0, 0, US)))
    assert found.lead.id == "blocked-readers", found.sentence
    assert not any("waited" in line for line in found.confidence.lines)


def test_a_reader_that_is_alone_keeps_the_cache_line() -> None:
    made = reading("")
    (one,) = made.sites
    few = {Operation.READ: use(2000, 0, 0, 40)}
    most = {Operation.READ: one.stats[Operation.READ]}
    alone = replace(made, sites=(replace(one, threads={2: few, 3: most}),))
    found = diagnose(alone)
    assert "blocked-readers" not in [one.id for one in (found.lead, *found.others)]


def test_a_single_writer_that_waits_for_several_reads_starves() -> None:
    reads, writes = use(20_000, 10, US, 320 * US), use(8000, 7300, 800 * US, US)
    made = rwlock(reads, writes)
    (one,) = made.sites
    writer = {Operation.WRITE: writes}
    readers = {Operation.READ: reads}
    threads = {2: writer, **dict.fromkeys((3, 4, 5), readers)}
    found = diagnose(replace(made, sites=(replace(one, threads=threads),)))
    assert found.lead.id == "starved-writers", found.sentence
    assert found.lead.saves > 0.05
    assert "pthread_rwlockattr_setkind_np" in found.sentence
    assert any("WRITER_NONRECURSIVE_NP" in line for line in found.lead.evidence)


def test_a_writer_that_waited_once_is_one_acquisition() -> None:
    reads, writes = use(20_000, 0, 0, 320 * US), use(2, 1, 2000 * MS, US)
    made = rwlock(reads, writes)
    (one,) = made.sites
    stats = {Operation.READ: reads, Operation.WRITE: writes}
    threads = {2: {Operation.WRITE: writes}, 3: {Operation.READ: reads}}
    found = diagnose(replace(made, sites=(replace(one, stats=stats, threads=threads),)))
    assert "only 1 acquisition waited: record for longer" in found.confidence.lines
