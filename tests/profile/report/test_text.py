# SPDX-License-Identifier: MIT
"""Tests the output of `hasp report` on a terminal of 80 columns."""

from __future__ import annotations

from dataclasses import replace

import profile_samples
import pytest
from profile_samples import SAMPLES, hot_lock, site, stack, use

from hasp.profile.model.profile import Event, OrderedPair, Weight
from hasp.profile.report.findings import frame_words


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_fits_80_columns(name, report):
    status, out, _ = report(name)
    assert status == 0
    assert out
    assert max(map(len, out.splitlines())) <= 80


def test_the_verdict_comes_first_and_the_warnings_last(report):
    profile = replace(hot_lock(), warnings=("12 stacks were lost",))
    _, out, _ = report(profile)
    lines = out.splitlines()
    assert "db.c:88 &db->mu" in lines[0] + lines[1]
    assert lines[-1] == "warning: 12 stacks were lost"
    table = next(index for index, line in enumerate(lines) if "taken" in line)
    assert table > 3
    assert "Recording took 160 ms of CPU time, 0.4 % of the program's time" in words(
        out
    )


def test_the_table_has_the_figures(report):
    _, out, _ = report("hot_lock")
    row = next(line for line in out.splitlines() if line.startswith("db.c:88 &db->mu "))
    assert "2.00M" in row and "45%" in row and "18.0s" in row and "62%" in row
    # p50, p99 and maximum of waits, then p50 and p99 of holds.
    assert "16us  78us 150us 3.1us  15us" in row


def test_sort_and_top(report):
    _, out, _ = report("hot_lock", "--sort", "instances", "--top", "1")
    assert words(out).count("pool.cc:140") == 1
    assert "log.c:12" not in out
    assert "and 2 more sites with 62 % of the threads' time: --top all" in out
    heads = next(line for line in out.splitlines() if "taken" in line)
    assert heads.endswith("instances")
    status, _, err = report("hot_lock", "--sort", "speed")
    assert status == 2
    assert "no metric 'speed'" in err and "acquisitions" in err


def test_idle_waits_have_a_table_of_their_own(report):
    _, out, _ = report("readers")
    above, below = out.split("idle time")
    assert "&queue->wake" not in above
    assert "queue.c:12 &queue->wake" in words(below)
    assert "5,200" in below


def test_expand_shows_the_locks_of_a_site(report):
    _, out, _ = report("hot_lock", "--expand", "pool", "--top", "3")
    assert "8 locks" in out
    assert out.count("0x7f") == 3
    assert "and 5 more: --top all" in out
    assert "make_it at pool.cc:140" in out
    status, _, err = report("hot_lock", "--expand", "nowhere")
    assert status == 2
    assert "no site 'nowhere'" in err and "db.c:88 &db->mu" in err


def test_threads(report):
    _, out, _ = report("deadlock", "--threads")
    assert "at the end thread 2 (worker-2) waits for bank.c:10 &to->lock" in words(out)
    assert "holds bank.c:10 &from->lock" in words(out)


def test_histograms_are_text(report):
    _, out, _ = report("hot_lock", "--histogram", "db.c:88")
    bars = [line for line in out.splitlines() if "|" in line]
    assert any("#" * 40 in bar for bar in bars)
    waits = [line for line in out.split("\n\n")[0].splitlines() if "|" in line]
    numbers = [int(line.split("|")[2].split()[0].replace(",", "")) for line in waits]
    assert sum(numbers) == 2000  # timed waits
    assert numbers.index(max(numbers)) not in (0, len(numbers) - 1)


def test_misuse_is_described_with_stacks(report):
    _, out, _ = report("deadlock")
    assert "bank.c:10 &to->lock was still held by thread 3 (worker-3)" in words(out)
    assert "refund at bank.c:44" in out


def test_an_inversion_shows_both_stacks(report):
    _, out, _ = report("deadlock")
    part = words(out.split("lock order: 1")[1])
    assert "are acquired in both orders" in part
    assert "pay at bank.c:31" in part
    assert "refund at bank.c:44" in part


def test_stacks_end_at_the_program(report):
    calls = (
        "close_it a.c:1",
        "main a.c:9",
        "__libc_start_call_main b.c:58",
        "_start c.c:1",
    )
    number = hot_lock().sites[0].locks[0].number
    event = Event("destroyed-held", 1, number, 1, 1, 0, stack(*calls))
    _, out, _ = report(replace(hot_lock(), events=(event,)))
    assert "Thread 1 (server) destroys db.c:88 &db->mu, which it still holds." in words(
        out
    )
    part = out.split("misuse of locks: 1")[1]
    assert "main at a.c:9" in part
    assert "_start" not in part


def test_names_cannot_control_the_terminal(report):
    evil = "x.c:1 \x1b[31m\x07red\x9b2J"
    profile = profile_samples.profile([site(1, evil, use(10, 1, 5, 5), 0.1)], 0.1)
    thread = replace(profile.threads[0], name="\x1b]0;title\x07")
    profile = replace(
        profile, command=("./a", "\x1b[2J"), threads=(thread, *profile.threads[1:])
    )
    for words in ([], ["--threads", "--expand", "*", "--histogram", "*"]):
        _, out, _ = report(profile, *words)
        assert all(one.isprintable() or one == "\n" for one in out)


def test_a_damaged_trace_may_contain_anything(report, tmp_path):
    weight = Weight(100_000, stack("x a.c:1"), 1, 2**64 - 1, 1, 2**64 - 1)
    profile = replace(hot_lock(), began=1e18, duration_ns=2**64 - 1, weights=(weight,))
    assert "from an unknown time" in report(profile)[1]
    assert report(profile, "--pprof", tmp_path / "out")[0] == 0


@pytest.mark.parametrize(
    ("function", "shown"),
    [
        ("rocksdb::DB::Open(rocksdb::Options const&, char**)", "rocksdb::DB::Open"),
        ("db::(anonymous namespace)::Pool<int>::take(int)", "db::Pool::take"),
        ("put", "put"),
    ],
)
def test_arguments_of_functions_are_left_out(function, shown):
    frame = replace(stack("x a.c:1")[0], function=function)
    assert frame_words(frame) == f"{shown} at a.c:1"


def test_a_cycle_is_not_shown_through_a_trylock(report):
    """The shortest way back is a trylock; the way that counts has two steps."""
    profile = profile_samples.hot_lock()
    a, b, c = (one.locks[0].number for one in profile.sites)
    way = [
        OrderedPair(outer, inner, 5, by_try, stack(f"{name} x.c:{line}"))
        for outer, inner, by_try, name, line in (
            *((a, b, False, "forth", 1), (b, a, True, "tried", 2)),
            *((b, c, False, "on", 3), (c, a, False, "home", 4)),
        )
    ]
    event = Event("order-inversion", 2, a, b, 5, 0, way[0].stack)
    _, out, _ = report(replace(profile, lock_order=tuple(way), events=(event,)))
    assert "Locks are acquired in a cycle" in out
    assert all(f"{name} at x.c" in out for name in ("forth", "on", "home"))
    assert "tried at" not in out


def test_a_deadlock_is_the_verdict(report):
    _, out, _ = report("deadlock")
    said = words(out.split("- ")[0])
    assert said == (
        "bank.c:10 &to->lock: deadlock of 2 threads with bank.c:10 &from->lock. "
        "Take the locks in one order."
    )
    assert "held by worker-3" in words(out.split("misuse of locks:")[0])
    assert "take " not in out.split("misuse of locks:")[0]


def test_no_lock_at_all_is_a_sentence_not_an_error(report):
    status, out, _ = report("unlocked")
    assert status == 0
    assert "used no lock" in out
    assert "taken" not in out


def test_a_truncated_trace_without_locks_proves_nothing(report):
    profile = replace(profile_samples.unlocked(), warnings=("it is cut off",))
    status, out, _ = report(profile)
    assert status == 0
    assert "used no lock" not in out
    assert out.splitlines()[-1] == "it is cut off"


def test_evidence_leaves_room_for_the_table(report):
    _, out, _ = report("hot_lock")
    assert sum(line.startswith("- ") for line in out.splitlines()) <= 6


def test_a_long_name_has_a_line_of_its_own(report):
    name = "storage_engine.cc:1234 Storage::Engine::Partition::mutex_"
    longer = f"librocksdb.so.7+0x30062e in {'rocksdb::lru_cache::' * 9}Shard::lock"
    sites = [
        site(n, name, use(10, 1, 5, 5), 0.1) for n, name in enumerate((name, longer))
    ]
    _, out, _ = report(profile_samples.profile(sites, 0.1))
    lines = out.splitlines()
    at = lines.index(name)
    assert lines[at + 1].split()[0] == "10"
    assert max(map(len, lines)) <= 80
    # If a name does not fit in two lines, both its ends are shown.
    start = next(n for n, line in enumerate(lines) if line.startswith("librocksdb"))
    shown = "".join(lines[start : start + 2])
    assert shown.startswith("librocksdb.so.7+0x30062e in rocksdb::")
    assert "..." in shown and shown.endswith("Shard::lock")
    assert lines[start + 2].split()[0] == "10"


def test_a_missing_trace(capsys, tmp_path):
    from hasp.cli.main import main

    assert main(["report", str(tmp_path / "none.trace")]) == 2
    err = capsys.readouterr().err
    assert "none.trace does not exist" in err
    assert "hasp profile -- ./program" in err


def test_other_processes_of_the_run(report, traces, capsys):
    from hasp.cli.main import main

    second = traces("hasp.trace.2", replace(profile_samples.readers(), pid=77))
    first = replace(hot_lock(), others=(str(second),))
    _, out, _ = report(first)
    assert "other processes: hasp.trace.2" in out
    for chosen in ("2", "77"):
        _, out, _ = report(first, "--process", chosen)
        assert "cache.cc:9" in out
    status, _, err = report(first, "--process", "5")
    assert status == 2
    assert "4242 (hasp.trace), 77 (hasp.trace.2)" in words(err)
    assert main(["report", "--process", "x", str(second)]) == 2
    assert "is not a number" in capsys.readouterr().err


def test_long_names_are_printed_once(report):
    """After that, only the location is printed, so that the evidence is readable."""
    profile = hot_lock()
    name = "libstore.so+0x1234 in some::name::space::Cache::Shard::Shard"
    sites = tuple(
        replace(one, name=name, place="libstore.so+0x1234") if not index else one
        for index, one in enumerate(profile.sites)
    )
    _, out, _ = report(replace(profile, sites=sites), "--why")
    above = words(out.split("server --threads 4")[0])
    assert above.count(name) == 1
    assert above.count("libstore.so+0x1234") >= 3
