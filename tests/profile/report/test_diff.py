# SPDX-License-Identifier: MIT
"""Tests what `hasp diff` counts as a change, and what it does not."""

from __future__ import annotations

import json
from dataclasses import replace

import profile_samples as samples
import pytest
from profile_samples import site, use

from hasp.cli.main import main
from hasp.profile.model.profile import Operation


def run_of(
    seed: int, wait: float = 20_000, name: str = "db.c:88 &db->mu", number: int = 10**6
):
    """Return a profile with a hot lock of this mean wait; two others are constant."""
    hot = use(number, number // 3, wait, 4000)
    times = samples.around(wait, number // 3, seed)
    hot = replace(hot, wait=times, hold=samples.around(4000, number, seed + 100))
    share = (hot.wait.total_ns + hot.hold.total_ns) / (5 * samples.DURATION)
    base = samples.hot_lock()
    return replace(base, sites=(site(1, name, hot, share), *base.sites[1:]))


@pytest.fixture
def diff(traces, capsys, monkeypatch, tmp_path):
    """diff(before, after, *words) returns exit status, stdout, stderr.

    If `before` or `after` is a list, it is compared as a group of profiles.
    """
    monkeypatch.chdir(tmp_path)

    def run(before, after, *words):
        sides = []
        for letter, side in (("a", before), ("b", after)):
            runs = side if isinstance(side, list) else [side]
            names = [f"{letter}{n}.trace" for n in range(len(runs))]
            for name, profile in zip(names, runs, strict=True):
                traces(name, profile)
            sides.append(",".join(names))
        status = main(["diff", *sides, *map(str, words)])
        out, err = capsys.readouterr()
        return status, out, err

    return run


def measures(out, place=0):
    lock = json.loads(out)["locks"][place]
    return {name: one["verdict"] for name, one in lock["measures"].items()}


def test_longer_waits_are_found_and_nothing_else(diff):
    _, out, _ = diff(run_of(1), run_of(2, wait=30_000), "--json")
    found = measures(out)
    assert found["wait.mean"] == found["waiting"] == found["share"] == "more"
    assert found["rate"] == found["contended"] == "same"
    assert found["hold.mean"] not in ("more", "less")
    _, out, _ = diff(run_of(2, wait=30_000), run_of(1), "--json")
    assert measures(out)["wait.mean"] == "less"


def test_the_same_program_twice_has_not_changed(diff):
    status, out, _ = diff(run_of(1), run_of(2), "--fail-if", "share > 0%")
    assert status == 0
    assert out.startswith("Nothing changed beyond the noise.")


def test_a_change_at_the_same_share_is_reported(diff):
    """There are half as many acquisitions, and each takes twice as long."""
    before, after = run_of(1), run_of(2, wait=40_000, number=500_000)
    hot = after.sites[0]
    use = next(iter(hot.stats.values()))
    longer = replace(use, hold=samples.around(8000, 500_000, 7))
    hot = replace(hot, share=before.sites[0].share, stats={Operation.LOCK: longer})
    _, out, _ = diff(before, replace(after, sites=(hot, *after.sites[1:])))
    first = " ".join(out.split("before:")[0].split())
    assert first.startswith("db.c:88 &db->mu: rate -50%")
    assert "its share of the time went 21 % to 21 %, possibly by chance" in first


def test_groups_show_more_than_single_runs(diff):
    """Runs that vary by a quarter hide a change of a quarter."""
    waits = (16_000, 20_000, 25_000)
    before = [run_of(n, wait=wait) for n, wait in enumerate(waits)]
    after = [run_of(n + 10, wait=1.25 * wait) for n, wait in enumerate(waits)]
    _, out, _ = diff(before, after, "--json")
    assert measures(out)["wait.mean"] == "cannot tell"
    assert "Welch" in json.loads(out)["method"][0]
    # A single pair of runs seems certain, but comes with a caveat.
    _, out, _ = diff(before[0], after[0], "--json")
    assert measures(out)["wait.mean"] == "more"
    assert "only the noise of counting" in json.loads(out)["method"][0]


def test_groups_that_agree_show_the_change(diff):
    before = [run_of(n, wait=20_000 + 100 * n) for n in range(4)]
    after = [run_of(n + 10, wait=26_000 + 100 * n) for n in range(4)]
    _, out, _ = diff(before, after, "--json")
    lock = json.loads(out)["locks"][0]["measures"]["wait.mean"]
    assert lock["verdict"] == "more"
    assert lock["low"] < 1.3 < lock["high"]
    assert lock["ratio"] == pytest.approx(1.3, rel=0.01)


def test_a_lock_whose_line_moved_is_the_same_lock(diff):
    _, out, _ = diff(run_of(1), run_of(2, name="db.c:97 &db->mu"), "--json")
    lock = json.loads(out)["locks"][0]
    assert (lock["name"], lock["name_before"]) == ("db.c:97 &db->mu", "db.c:88 &db->mu")
    assert lock["status"] == "both"
    # With another expression or file, it is another lock.
    for other in ("db.c:97 &db->other", "other.c:97 &db->mu"):
        _, out, _ = diff(run_of(1), run_of(2, name=other), "--json")
        found = {one["name"]: one["status"] for one in json.loads(out)["locks"]}
        assert found[other] == "new"
        assert found["db.c:88 &db->mu"] == "gone"


def test_fail_if_names_the_lock_and_the_change(diff):
    words = ("--fail-if", "db.c*: wait.mean > +20%")
    status, _, err = diff(run_of(1), run_of(2, wait=30_000), *words)
    assert status == 1
    assert "db.c:88 &db->mu: wait.mean changed by +50 %" in err
    assert "20.0 us to 30.0 us" in err
    status, _, err = diff(run_of(2, wait=30_000), run_of(1), *words)
    assert (status, err) == (0, "")
    status, _, _ = diff(
        run_of(2, wait=30_000), run_of(1), "--fail-if", "waiting < -20%"
    )
    assert status == 1


def test_a_new_hot_lock_is_growth_of_its_share(diff):
    """Its change in percent is infinite, so it cannot be tested for significance."""
    words = ("--fail-if", "share > +10%")
    status, _, err = diff(samples.unlocked(), run_of(1), *words)
    assert status == 1
    assert "db.c:88 &db->mu: this lock is new" in err
    assert diff(run_of(1), samples.unlocked(), *words)[0] == 0


def test_a_condition_that_matches_no_lock_is_noted(diff):
    status, _, err = diff(run_of(1), run_of(2), "--fail-if", "zzz*: share > +1%")
    assert status == 0
    assert "checked nothing: no lock matches" in err


def test_a_change_that_may_be_chance_does_not_fail(diff):
    """Forty acquisitions cannot show a change of ten percent."""
    before, after = run_of(1, number=40), run_of(2, number=44)
    status, _, _ = diff(before, after, "--fail-if", "rate > +1%")
    assert status == 0
    status, _, _ = diff(
        run_of(1, number=40_000), run_of(2, number=44_000), "--fail-if", "rate > +1%"
    )
    assert status in (0, 1)


def test_the_table_fits_and_lists_differences(diff):
    after = replace(run_of(2, wait=30_000), lock="mcs", ended=False)
    status, out, _ = diff(run_of(1), after)
    assert status == 0
    assert max(map(len, out.splitlines())) <= 80
    assert "lock: glibc before, mcs after" in out
    assert "were killed or are still running" in out
    assert "One run each" in out
    row = next(
        line for line in out.splitlines() if line.startswith("db.c:88 &db->mu  ")
    )
    assert "+50%" in row


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a0.trace"], "needs two sides, not 1"),
        (["a0.trace", "b0.trace", "c"], "needs two sides, not 3"),
        (["a0.trace,a0.trace", "b0.trace"], "one side has one run"),
        (["a0.trace", "none.trace"], "none.trace does not exist"),
        (["a0.trace,b0.trace:"], "one side has no trace"),
        (["a0.trace,a0.trace", ","], "one side has no trace"),
        (["--fail-if", "wait.p98 > 3%", "a0.trace", "b0.trace"], "measures: share"),
        (["--fail-if", "share > 3", "a0.trace", "b0.trace"], "is in percent"),
        (["a0.trace,a0.trace", "b0.trace,b0.trace"], "named twice"),
        (["--fail-if", "share", "a0.trace", "b0.trace"], "is not a condition"),
    ],
)
def test_usage(words, message, diff, capsys):
    diff(run_of(1), run_of(2))
    assert main(["diff", *words]) == 2
    assert message in capsys.readouterr().err


def test_a_trace_after_json_is_not_a_destination(diff, capsys, tmp_path):
    diff(run_of(1), run_of(2, wait=30_000))
    assert main(["diff", "--json", "a0.trace", "b0.trace"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["locks"][0]["measures"]["wait.mean"]["verdict"] == "more"
    assert (tmp_path / "a0.trace").read_text() == "stands for a trace"
    for words in (
        ["a0.trace", "--json", "b0.trace"],
        ["a0.trace", "b0.trace", "--json"],
    ):
        assert main(["diff", *words]) == 0
        document = json.loads(capsys.readouterr().out)
        assert document["locks"][0]["measures"]["wait.mean"]["verdict"] == "more"
    assert main(["diff", "--json", "out.json", "a0.trace", "b0.trace"]) == 0
    assert json.loads((tmp_path / "out.json").read_text())["schema"] == "hasp.diff/1"


def test_groups_by_a_colon(diff, capsys):
    diff([run_of(1), run_of(2)], [run_of(3), run_of(4)])
    assert main(["diff", "a0.trace,a1.trace:b0.trace,b1.trace"]) == 0
    assert "2 and 2 runs" in capsys.readouterr().out


def test_a_program_without_locks_can_be_compared(diff):
    status, out, err = diff(run_of(1), samples.unlocked())
    assert status == 0
    assert "exists only before" in out
    assert "b0.trace: the program used no lock" in err


def test_a_damaged_trace_is_named(diff):
    cut = "b0.trace is cut off: it has 100 of 200 bytes"
    after = replace(run_of(2), damaged=True, warnings=(cut,))
    _, out, _ = diff(run_of(1), after)
    assert cut in " ".join(out.split())
    _, out, _ = diff(run_of(1), run_of(2))
    assert "cut off" not in out
