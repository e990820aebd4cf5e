# SPDX-License-Identifier: MIT
"""Tests the text, plan, JSON and errors of `hasp advise` on synthetic profiles."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import profile_samples
import pytest
from lock_list import ROOT
from profiler.corpus import PROGRAM

from hasp.advise.planning import plan_of, unplanned
from hasp.cli.main import main
from hasp.locks import native
from hasp.locks.site_plan.toml_file import load as load_plan
from hasp.profile.diagnosis import advise
from hasp.profile.diagnosis.rules import load as rules
from hasp.profile.model.build import load
from hasp.profile.model.process_sample import ProcessSample
from hasp.profile.model.profile import Operation, Origin, Profile, Spot
from hasp.profile.model.proofs import LockProof
from hasp.profile.report import headline, source

Advise = Callable[..., int]


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Advise:
    """Return a function that runs `hasp advise` on a profile in a new folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hasp.trace").write_bytes(b"")

    def run(profile: Profile, *options: str) -> int:
        monkeypatch.setattr(source, "load", lambda trace: profile)
        return main(["advise", "hasp.trace", *options])

    return run


def hot_lock() -> Profile:
    """Return the sample with a known origin of its site."""
    sample = profile_samples.hot_lock()
    spots = (Spot("server", "ab12", 0x1234), Spot("server", "ab12", 0x1300))
    origin = Origin(spots, None)
    first = replace(sample.sites[0], origins=(origin,))
    return replace(sample, sites=(first, *sample.sites[1:]))


@pytest.mark.parametrize("name", profile_samples.SAMPLES)
def test_every_sample_fits_the_terminal(
    name: str, judged: Advise, capsys: pytest.CaptureFixture[str]
) -> None:
    assert judged(profile_samples.SAMPLES[name]()) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines
    assert max(map(len, lines)) <= 80


def test_the_sentence_is_in_plain_words() -> None:
    said = advise(profile_samples.hot_lock()).sentence
    assert said == (
        "45 % of thread time is spent waiting for db.c:88 &db->mu: threads often wait "
        "for each other (high contention); try the algorithm mcs (at most 24 % faster)"
    )
    quiet = advise(profile_samples.idle()).sentence
    assert quiet.startswith("locks are not your bottleneck")
    polled = advise(profile_samples.trylock_storm())
    assert polled.bottlenecks == ("trylock-contention",)


def test_on_two_cpus_one_waiter_is_extreme() -> None:
    sample = profile_samples.hot_lock()
    hot = sample.sites[0]
    busy = replace(hot.locks[0], wait_ns=int(0.9 * sample.duration_ns))
    site = replace(hot, locks=(busy,))
    verdict = advise(replace(sample, cpus=2, sites=(site,)))
    assert verdict.sites[0].level == "extreme"
    assert advise(replace(sample, sites=(site,))).sites[0].level == "high"  # on four


def test_oversubscription_asks_for_parking() -> None:
    sample = profile_samples.hot_lock()
    crowd = tuple(
        ProcessSample(**{**vars(moment), "threads": 40, "runnable": 30})
        for moment in sample.process_samples
    )
    busy = replace(sample, process_samples=crowd)
    verdict = advise(busy, rules().set(["worthwhile=0"]))
    assert verdict.bottlenecks[:1] == ("lock-holder-preemption",)
    assert native.lock(verdict.sites[0].recommendation or "").parks
    assert "holder preemption" in verdict.sentence
    # glibc's lock parks as well, and leaves no CPU idle.
    kept = advise(busy, rules())
    assert kept.sites[0].recommendation is None
    why = "no other algorithm can gain more than 1 %"
    assert kept.sites[0].keep.startswith(f"keep glibc's lock: {why}")


def test_waits_on_condition_variables_are_not_contention() -> None:
    verdict = advise(profile_samples.readers())
    assert all(site.kind != "condvar" for site in verdict.features.sites)


def test_slow_handovers_need_waits_on_condition_variables() -> None:
    sample = profile_samples.hot_lock()
    slow = replace(
        sample.sites[0].stats[Operation.LOCK],
        handover=profile_samples.distribution([2_000_000] * 100),
    )
    stats = {Operation.LOCK: slow}
    site = replace(sample.sites[0], stats=stats)
    assert "lock-handover" not in advise(replace(sample, sites=(site,))).bottlenecks
    stats[Operation.RELOCK] = replace(slow, acquisitions=slow.acquisitions // 2)
    verdict = advise(replace(sample, sites=(site,)))
    assert "lock-handover" in verdict.bottlenecks
    assert verdict.sites[0].advice[:1] == ("exclude fifo",)


def test_a_plan_is_written_and_can_be_read(
    judged: Advise, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert judged(hot_lock(), "--write") == 0
    assert "hasp run --plan hasp.plan.toml" in capsys.readouterr().err
    plan = load_plan(tmp_path / "hasp.plan.toml")
    assert [(entry.site, entry.lock) for entry in plan.entries] == [
        ("db.c:88 &db->mu", "mcs")
    ]
    assert [place.first for place in plan.entries[0].frames] == [0x1234, 0x1300]
    assert plan.default == "futex"
    # An empty plan must not overwrite an existing one.
    assert judged(profile_samples.idle(), "--write") == 2
    assert load_plan(tmp_path / "hasp.plan.toml") == plan


def test_a_plan_omits_sites_that_keep_their_lock() -> None:
    sample = hot_lock()
    origin = Origin((Spot("server", "ab12", 0x99),), None)
    quiet = replace(sample.sites[1], share=0.06, origins=(origin,))
    profile = replace(sample, sites=(sample.sites[0], quiet))
    verdict = advise(profile)
    assert [site.recommendation for site in verdict.sites] == ["mcs", None]
    assert [entry.lock for entry in plan_of(verdict, profile).entries] == ["mcs"]
    assert unplanned(verdict, profile) == []
    unknown = replace(profile, sites=(replace(sample.sites[0], origins=()), quiet))
    assert not plan_of(verdict, unknown).entries
    assert unplanned(verdict, unknown) == ["db.c:88 &db->mu"]


def test_json_is_one_object(judged: Advise, capsys: pytest.CaptureFixture[str]) -> None:
    assert judged(profile_samples.hot_lock(), "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert record["schema"] == "hasp.advise/1"
    assert record["sites"][0]["recommendation"] == "mcs"
    fired = {rule["id"]: rule for rule in record["rules"]}
    number = fired["E6.high"]["numbers"][0]
    assert number["measure"] == "waiters_share"
    assert number["value"] >= number["limit"] == 0.16


def test_json_does_not_replace_the_trace(
    judged: Advise, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("other.trace").write_bytes(b"a trace")
    monkeypatch.setattr(source, "load", lambda trace: profile_samples.hot_lock())
    assert main(["advise", "--json", "other.trace"]) == 0
    assert json.loads(capsys.readouterr().out)["locks_matter"]
    assert Path("other.trace").read_bytes() == b"a trace"


def test_thresholds_and_objective(
    judged: Advise, capsys: pytest.CaptureFixture[str]
) -> None:
    unlike = ("--set", "high-from=0.9", "--set", "some-contention=1", "--json")
    assert judged(profile_samples.hot_lock(), *unlike) == 0
    assert json.loads(capsys.readouterr().out)["bottlenecks"] == []
    assert judged(profile_samples.hot_lock(), "--set", "high=1") == 2
    assert "did you mean high-from" in capsys.readouterr().err
    latency = ("--objective", "latency", "--set", "latency-share=0.5", "--json")
    assert judged(profile_samples.hot_lock(), *latency) == 0
    site = json.loads(capsys.readouterr().out)["sites"][0]
    assert "prefer fifo" in site["advice"]


def test_rules_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["advise", "--rules"]) == 0
    out = capsys.readouterr().out
    assert "E6.extreme" in out
    assert "extreme-from = 63 %" in out
    assert max(map(len, out.splitlines())) <= 80


def test_a_forecast_is_labelled(
    judged: Advise, capsys: pytest.CaptureFixture[str]
) -> None:
    assert judged(profile_samples.hot_lock(), "--simulate", "i7-4770") == 0
    out = capsys.readouterr().out
    lines = out[out.index("forecast") :].splitlines()
    assert lines[0] == "forecast (simulated)"
    rates = [line for line in lines if "operations/s" in line]
    assert len(rates) >= 4
    assert all(line.startswith("- simulated: ") for line in rates)


def test_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["advise", str(tmp_path / "none.trace")]) == 2
    assert "does not exist" in capsys.readouterr().err
    assert main(["advise", "--threads", "1,2", "--", "true"]) == 2
    assert "{threads}" in capsys.readouterr().err


def test_the_page_of_rules_is_up_to_date() -> None:
    tool = ROOT / "tools/make_advice_page.py"
    done = subprocess.run(
        [sys.executable, tool, "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_command_is_recorded_judged_and_tried(
    hasp: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    """The bottleneck is many uncontended acquisitions, which other load cannot hide.

    A busy machine may add other bottlenecks and slow the program down, so the threshold
    is low.
    """
    command = (PROGRAM, "--threads=2", "--seconds=0.2", "owned")
    options = ("--runs=1", "--warmup=0", "--candidates=1", "--plan=the.plan.toml")
    # On two CPUs a lock that hardly ever waits is kept.
    low = ("--set=light-share=0.0001", "--set=two-cpus=0")
    figure = r'--metric=operations_per_second": ([0-9.]+)'
    done = hasp(
        "advise", *options, *low, figure, "--json", "--", *command, cwd=tmp_path
    )
    assert done.returncode in (0, 1), done.stderr
    record = json.loads(done.stdout)
    assert "many-uncontended" in record["bottlenecks"]
    site = record["sites"][0]
    assert site["name"].startswith("owned.c:")
    tried = [item["lock"] for item in record["proof"]["standings"]]
    assert tried == ["glibc", site["recommendation"], "plan"]
    assert all(item["median"] for item in record["proof"]["standings"])
    assert record["proof"]["agreement"] in ("agree", "disagree", "cannot tell")
    assert (done.returncode == 1) == (record["proof"]["agreement"] == "disagree")
    entry = load_plan(tmp_path / "the.plan.toml").entries[0]
    assert entry.lock == site["recommendation"]
    # The results of the locks remain beside the trace, for this program.
    kept = load(tmp_path / "hasp.trace")
    assert {proof.lock for proof in kept.proofs} == {"glibc", site["recommendation"]}
    assert not kept.stale_proofs
    assert kept.subject.build_id
    # The trace remains, and can be judged again.
    again = advise(
        load(tmp_path / "hasp.trace"), rules().set(["light-share=0.0001", "two-cpus=0"])
    )
    assert again.sentence == record["verdict"]


def test_a_command_that_fails_is_refused(
    hasp: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    failed = hasp("advise", "--", PROGRAM, "--threads=0", cwd=tmp_path)
    assert failed.returncode == 2
    assert "the command failed while it was recorded" in failed.stderr
    silent = hasp("advise", "--", "true", cwd=tmp_path)
    assert silent.returncode == 2
    assert "nothing was recorded" in silent.stderr


def test_locks_that_first_appear_late_were_not_created_late() -> None:
    sample = profile_samples.many_locks()
    late = sample.duration_ns // 2
    for flags, throughout in ((frozenset(), True), (frozenset({"static"}), False)):
        locks = [
            replace(lock, born_ns=late, flags=flags) for lock in sample.sites[0].locks
        ]
        site = replace(sample.sites[0], locks=locks)
        measured = advise(replace(sample, sites=(site,))).features.sites[0]
        assert (measured.created_late == 1.0) == throughout


def test_idle_samples_need_no_cpu() -> None:
    """A count of zero ready threads is None, which must not count as a disturbance."""
    sample = profile_samples.hot_lock()
    half = tuple(
        ProcessSample(**{**vars(moment), "runnable": 2 if number < 5 else None})
        for number, moment in enumerate(sample.process_samples)
    )
    threads = [replace(thread, cpu_ns=2_000_000_000) for thread in sample.threads]
    measured = advise(replace(sample, process_samples=half, threads=threads)).features
    assert measured.cpu_granted == pytest.approx(1.0)
    assert measured.runnable_per_cpu == pytest.approx(2 / 4)
    assert measured.wanting_per_cpu == pytest.approx(3 / 4)  # and one parked
    none = tuple(
        ProcessSample(**{**vars(m), "runnable": None}) for m in sample.process_samples
    )
    unknown = advise(replace(sample, process_samples=none)).features
    assert unknown.cpu_granted is None
    assert unknown.runnable_per_cpu is None


def test_a_mutex_is_not_recommended_without_waiters() -> None:
    """Without contention, a mostly written reader-writer lock costs little."""
    sample = profile_samples.readers()
    for contended, said in ((9000, True), (10, False)):
        writes = replace(
            sample.sites[0].stats[Operation.WRITE],
            acquisitions=90_000,
            contended=contended,
        )
        site = replace(sample.sites[0], stats={Operation.WRITE: writes}, share=0.4)
        shares = {"section_share": 0.4, "sites": (site,)}
        verdict = advise(replace(sample, **shares))
        assert (
            any("replace it by a mutex" in hint for hint in verdict.sites[0].hints)
            is said
        )


def test_locks_that_do_not_matter_are_not_mentioned() -> None:
    sample = profile_samples.hot_lock()
    calm = replace(sample.sites[0], share=0.02)
    lock = replace(
        sample.sites[0].stats[Operation.LOCK], acquisitions=3000, contended=9
    )
    relock = replace(lock, acquisitions=2000)
    stats = {Operation.LOCK: lock, Operation.RELOCK: relock}
    calm = replace(calm, stats=stats)
    asleep = [replace(t, section_ns=2_000_000, wait_ns=0) for t in sample.threads]
    quiet = {"sites": (calm,), "section_share": 0.02, "threads": asleep}
    verdict = advise(
        replace(sample, **quiet), rules().set(["blocking-rate=1", "seldom=1"])
    )
    assert verdict.bottlenecks == ("lock-handover",)
    assert verdict.sites[0].keep
    assert "keep" not in verdict.sentence
    assert verdict.sentence.startswith("locks are not your bottleneck")


@pytest.mark.parametrize("name", profile_samples.SAMPLES)
def test_the_text_has_at_most_15_lines_and_why_has_the_rules(
    name: str, judged: Advise, capsys: pytest.CaptureFixture[str]
) -> None:
    sample = profile_samples.SAMPLES[name]()
    assert judged(sample) == 0
    short = capsys.readouterr().out.splitlines()
    assert len(short) <= 15
    assert not any("rules that fired" in line for line in short)
    assert judged(sample, "--why") == 0
    long = capsys.readouterr().out
    assert len(long.splitlines()) >= len(short)
    if advise(sample).evidence:
        assert "rules that fired" in long


def test_the_remedy_in_the_source_comes_before_the_lock(
    judged: Advise, capsys: pytest.CaptureFixture[str]
) -> None:
    sample = profile_samples.hot_lock()
    assert judged(sample) == 0
    out = " ".join(capsys.readouterr().out.split())
    lock = advise(sample).recommendation
    assert out.startswith(headline.verdict(sample).sentence)
    command = out.index(f"the lock of db.c:88 &db->mu: hasp run --lock {lock} --")
    assert command < out.index("the profile cannot tell")
    assert "`hasp tune -- COMMAND` measures which is best" in out


def test_a_proof_replaces_the_doubt_and_a_stale_one_is_told(
    judged: Advise, capsys: pytest.CaptureFixture[str]
) -> None:
    sample = profile_samples.hot_lock()
    proof = LockProof(
        *("spinbit", "best", 2.1, 1.9, 2.3, 7, "ops", "here", "2026"), sample.subject
    )
    assert judged(replace(sample, proofs=(proof,), stale_proofs="1 is ignored")) == 0
    out = " ".join(capsys.readouterr().out.split())
    said = "hasp run --lock spinbit -- COMMAND was 2.10 times (1.90 to 2.30) as fast"
    assert said in out
    assert "hasp tune" not in out
    assert "1 is ignored" in out
