# SPDX-License-Identifier: MIT
"""Profiles of several processes are merged into one: `hasp report --tree`."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from profile_samples import DURATION, SECOND, deadlock, hot_lock, profile, site, use

from hasp.cli.main import main
from hasp.profile.model.merge import merge
from hasp.profile.model.profile import Operation
from hasp.profile.report import source


def second(made=None, pid: int = 4243, later_s: float = 2.0):
    made = made or hot_lock()
    return replace(made, pid=pid, began=made.began + later_s)


def test_a_site_of_two_processes_is_one_site():
    first = hot_lock()
    found = merge([second(), first])
    assert [one.name for one in found.sites] == [one.name for one in first.sites]
    before, after = first.sites[0], found.sites[0]
    assert after.total.acquisitions == 2 * before.total.acquisitions
    assert after.total.wait.total_ns == 2 * before.total.wait.total_ns
    assert sum(after.total.hold.counts) == 2 * sum(before.total.hold.counts)
    assert after.share == pytest.approx(before.share)
    assert len(after.locks) == 2
    assert len({lock.number for lock in after.locks}) == 2
    assert sum(lock.acquisitions for lock in after.locks) == after.total.acquisitions
    assert len(after.threads) == 2 * len(before.threads)
    number = max(after.threads)
    assert after.threads[number][Operation.LOCK].acquisitions > 0


def test_records_refer_to_the_locks_and_threads_of_their_process():
    first = hot_lock()
    found = merge([first, second()])
    assert found.site_of(found.weights[0].lock) is found.sites[0]
    assert found.site_of(found.weights[-1].lock) is found.sites[0]
    assert found.weights[0].lock != found.weights[-1].lock
    numbers = [thread.number for thread in found.threads]
    assert len(set(numbers)) == len(numbers) == 2 * len(first.threads)
    assert {one.holder for one in found.waiters} <= set(numbers)
    assert [one.at_ns for one in found.waiters] == sorted(
        one.at_ns for one in found.waiters
    )


def test_times_count_from_the_first_process():
    found = merge([second(later_s=2.0), hot_lock()])
    assert found.pid == 4242
    assert found.duration_ns == DURATION + 2 * SECOND
    assert [row.began_ns for row in found.processes] == [0, 2 * SECOND]
    assert [row.pid for row in found.processes] == [4242, 4243]
    samples = found.process_samples
    together = next(one for one in samples if one.at_ns == 6 * SECOND)
    assert together.threads == 10
    assert samples[-1].threads == 5, "the first process has ended"
    totals = [one.cpu_ns for one in samples]
    assert totals == sorted(totals)


def test_other_sites_stay_apart():
    other = profile([site(1, "other.c:9 &o", use(100, 10, 500, 50), 0.1)], 0.1)
    found = merge([hot_lock(), second(other)])
    assert {one.name for one in found.sites} > {"other.c:9 &o", "db.c:88 &db->mu"}
    assert len({one.number for one in found.sites}) == len(found.sites)
    assert next(s for s in found.sites if s.name == "other.c:9 &o").share < 0.1


def test_inversions_keep_their_locks():
    made = deadlock()
    locks = [site.locks[0].number for site in made.sites]
    event = replace(made.events[0], lock=locks[0], other=locks[1])
    found = merge([hot_lock(), second(replace(made, events=(event,)))])
    (one,) = found.events
    names = [found.site_of(lock).name for lock in (one.lock, one.other)]
    assert names == [site.name for site in made.sites]
    waiting = [thread for thread in found.threads if thread.waiting_for is not None]
    for thread in waiting:
        assert found.site_of(thread.waiting_for).name.startswith("bank.c:10")


def slower(made, factor: float):
    """The same profile of a machine whose clock ticks slower."""
    first = made.sites[0]
    stats = first.stats[Operation.LOCK]
    edges = tuple(edge * factor for edge in stats.wait.edges_ns)
    changed = replace(stats, wait=replace(stats.wait, edges_ns=edges))
    return replace(
        made, sites=(replace(first, stats={Operation.LOCK: changed}), *made.sites[1:])
    )


def test_clocks_differ_slightly_between_processes():
    found = merge([hot_lock(), second(slower(hot_lock(), 1.001))])
    assert sum(found.sites[0].total.wait.counts) > 0
    with pytest.raises(ValueError, match="different clocks"):
        merge([hot_lock(), second(slower(hot_lock(), 2.0))])


@pytest.fixture
def tree(tmp_path, monkeypatch, capsys):
    """tree(*words) reports a run of two processes."""
    profiles = {
        "hasp.trace": replace(hot_lock(), others=("hasp.trace.2",)),
        "hasp.trace.2": second(),
    }
    for name in profiles:
        (tmp_path / name).write_text("stands for a trace")
    monkeypatch.setattr(source, "load", lambda path: profiles[path.name])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def run(*words):
        status = main(["report", "--tree", *words, "hasp.trace"])
        return status, *capsys.readouterr()

    return run


def test_the_report_has_a_row_for_each_process(tree):
    status, out, _ = tree()
    assert status == 0
    assert "server 4242" in out and "server 4243" in out and "all 2" in out
    assert any("4.00M" in line and "45%" in line for line in out.splitlines())
    assert max(map(len, out.splitlines())) <= 80


def test_json_and_other_formats_are_merged(tree):
    _, out, _ = tree("--json", "-")
    found = json.loads(out)
    assert [one["pid"] for one in found["processes"]] == [4242, 4243]
    assert found["locks"][0]["acquisitions"] == 4_000_000
    assert found["others"] == []
    for form in ("--csv", "--markdown", "--speedscope", "--chrome-trace", "--firefox"):
        status, out, _ = tree(form, "-")
        assert status == 0 and out


def test_one_process_of_a_tree_is_a_contradiction(tree):
    status, _, err = tree("--process", "4243")
    assert status == 2
    assert "--tree and --process cannot be combined" in err
