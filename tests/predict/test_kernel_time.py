# SPDX-License-Identifier: MIT
"""What threads compute in the kernel takes as long as recorded."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from predict_samples import GAP, INNER, OUTER, closed, site, synthetic
from trace_samples import SECOND, Synthetic

from hasp.lab.simulate.machines.machine import load as machine
from hasp.lab.simulate.machines.speed import Speed
from hasp.predict.kernel_time import kernel_share
from hasp.predict.load import Load, Role
from hasp.predict.meeting import meeting_role
from hasp.predict.pace import Pace, scaled
from hasp.predict.rebuild import rebuild
from hasp.profile.model.build import load as profile_of
from hasp.profile.model.holding import HolderState, Holding, StateShare
from hasp.profile.model.profile import Profile
from hasp.profile.trace.format import ChunkKind

EACH = GAP + OUTER + INNER  # ns from one outermost section to the next
FEW = ("--machine", "epyc-2x64", "--locks", "mcs", "--threads", "1,16")
WITHIN = 0.02


def split(user: float, system: float, cpu: float = 1.0, **ticks: float) -> Synthetic:
    """Return a trace whose workers have these CPU times and other sums, in seconds."""
    made = synthetic(cpu=round(cpu * SECOND))
    _, *workers = made.records[ChunkKind.THREADS]
    for worker in workers:
        worker["user_ns"], worker["system_ns"] = user * SECOND, system * SECOND
        for name, value in ticks.items():
            worker[f"{name}_ticks"] = value * SECOND
    return made


def role_of(made: Synthetic, folder: Path, busy: bool = False) -> Role:
    profile = profile_of(made.write(folder / "hasp.trace"))
    (role,) = rebuild(profile, 64, busy).roles
    return role


@pytest.mark.parametrize("busy", [False, True])
def test_the_share_of_a_thread_is_rebuilt(tmp_path: Path, busy: bool) -> None:
    role = role_of(split(0.6, 0.4), tmp_path, busy)
    assert role.kernel_ns == pytest.approx(0.4 * EACH, rel=WITHIN)


def test_times_without_a_cpu_are_neither(tmp_path: Path) -> None:
    role = role_of(split(0.3, 0.2, cpu=0.5), tmp_path)
    assert role.kernel_ns == pytest.approx(0.2 * EACH, rel=WITHIN)


def test_time_in_the_kernel_to_fall_asleep_is_part_of_the_wait(tmp_path: Path) -> None:
    """Workers wait for half of the time, and compute for the other half."""
    role = role_of(split(0.5, 0.1, cpu=0.6, idle=0.5), tmp_path)
    assert role.gap_ns == pytest.approx(GAP - EACH / 2, rel=WITHIN)
    assert role.kernel_ns == pytest.approx(0, abs=0.001 * EACH)


def test_recording_takes_time_in_user_mode(tmp_path: Path) -> None:
    role = role_of(split(0.9, 0.1, overhead=0.2), tmp_path)
    assert role.kernel_ns == pytest.approx(0.1 * EACH, rel=WITHIN)


def test_an_older_trace_does_not_tell(tmp_path: Path) -> None:
    made = synthetic()
    assert role_of(made, tmp_path).kernel_ns is None
    load = rebuild(profile_of(tmp_path / "hasp.trace"), 64)
    assert kernel_share(load) is None


def in_kernel(ns: float, hold_ns: float = 1000.0, number: int = 1) -> Load:
    """Return threads that compute 9000 ns between sections, and `ns` in the kernel."""
    load = closed(9000, hold_ns)
    (role,) = load.roles
    only = site(number, hold_ns=hold_ns)
    return replace(load, sites=(only,), roles=(replace(role, kernel_ns=ns),))


def slowed(load: Load, profile: Profile) -> Load:
    """Return the load on a machine a third as fast."""
    speeds = (Speed("test", score, score, score, False, "it") for score in (3, 1))
    return scaled(load, Pace(*speeds), profile)


@pytest.fixture
def profile(trace: Path) -> Profile:
    return profile_of(trace)


def test_time_in_the_kernel_is_not_scaled(profile: Profile) -> None:
    load = in_kernel(4000)
    assert kernel_share(load) == pytest.approx(0.4)
    after = slowed(load, profile)
    (role,), (only,) = after.roles, after.sites
    assert role.gap_ns == pytest.approx(4000 + 3 * 5000)
    assert role.holds_ns == pytest.approx((3000,))
    assert (only.hold_ns, only.slower) == (pytest.approx(3000), pytest.approx(3))
    assert role.kernel_ns == 4000


def test_more_than_fits_between_sections_is_in_them(profile: Profile) -> None:
    after = slowed(in_kernel(9500), profile)
    (role,), (only,) = after.roles, after.sites
    assert role.gap_ns == pytest.approx(9000)
    assert role.holds_ns == pytest.approx((500 + 3 * 500,))
    assert (only.hold_ns, only.slower) == (pytest.approx(2000), pytest.approx(2))


@pytest.mark.parametrize("kernel_ns", [9500, 12000])
def test_neither_that_nor_a_blocked_holder_is_scaled(
    profile: Profile, kernel_ns: float
) -> None:
    """Holders are blocked for 0.75 of a section."""
    states = (
        StateShare(HolderState.IO, 0.75, 75),
        StateShare(HolderState.RUNNING, 0.25, 25),
    )
    (first, *others) = profile.sites
    blocked = replace(first, holding=Holding(100, states))
    seen = replace(profile, sites=(blocked, *others))
    after = slowed(in_kernel(kernel_ns, number=first.number), seen)
    assert after.roles[0].gap_ns == pytest.approx(9000)
    assert after.roles[0].holds_ns == pytest.approx((1000,))


def test_a_section_of_a_meeting_has_that_of_all_its_acquisitions() -> None:
    """Half of the acquisitions only leave the meeting."""
    (role,) = in_kernel(4000).roles
    assert meeting_role(role, [1], {1: 0.5}).kernel_ns == pytest.approx(8000)


def test_the_answer_says_what_was_not_scaled(hasp, tmp_path: Path) -> None:
    speed = machine("epyc-2x64").speed
    assert speed
    path = split(0.6, 0.4).write(tmp_path / "hasp.trace")
    words = (path, *FEW, "--recorded-on")
    _, out, _ = hasp("predict", *words, 2 * speed.score)
    assert (
        "That is for user mode; the rest, 40 % of the recorded computing, was in the "
        "kernel and takes as long as recorded." in " ".join(out.split())
    )
    _, out, _ = hasp("predict", *words, 2 * speed.score, "--json")
    twice = json.loads(out)
    (role,) = twice["load"]["roles"]
    assert twice["speed"]["kernel_share"] == pytest.approx(0.4, rel=WITHIN)
    assert role["kernel_ns"] == pytest.approx(0.4 * EACH, rel=WITHIN)
    assert not any("kernel" in doubt for doubt in twice["doubts"])
    _, out, _ = hasp("predict", *words, speed.score, "--json")
    once = json.loads(out)
    longer = role["between_ns"] - once["load"]["roles"][0]["between_ns"]
    assert longer == pytest.approx(GAP - 0.4 * EACH, rel=WITHIN)
    _, out, _ = hasp("predict", *words, speed.score)
    assert "kernel" not in out


def test_an_older_trace_is_doubted(hasp, tmp_path: Path) -> None:
    speed = machine("epyc-2x64").speed
    assert speed
    path = synthetic().write(tmp_path / "hasp.trace")
    words = (path, *FEW, "--json", "--recorded-on")
    _, out, _ = hasp("predict", *words, 2 * speed.score)
    document = json.loads(out)
    assert document["speed"]["kernel_share"] is None
    assert document["load"]["roles"][0]["kernel_ns"] is None
    assert any("record the program again" in doubt for doubt in document["doubts"])
    _, out, _ = hasp("predict", *words, speed.score)
    assert not any("kernel" in doubt for doubt in json.loads(out)["doubts"])


def test_a_short_recording_is_doubted(hasp, tmp_path: Path) -> None:
    """Workers run for 0.2 s each."""
    speed = machine("epyc-2x64").speed
    assert speed
    path = split(0.15, 0.05, cpu=0.2, idle=0.8).write(tmp_path / "hasp.trace")
    words = (path, *FEW, "--json", "--recorded-on", 2 * speed.score)
    _, out, _ = hasp("predict", *words)
    doubts = json.loads(out)["doubts"]
    assert any("too short to tell user mode from the kernel" in one for one in doubts)
