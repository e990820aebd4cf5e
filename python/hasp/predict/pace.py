# SPDX-License-Identifier: MIT
"""How much longer computing takes on the simulated machine than on the recording's.

The recorded times in which a thread computes in user mode are multiplied by the ratio
of the two machines' scores in the same benchmark: the time between sections, and that
in them. What it does not scale: time in the kernel, sleep, waits for work, holders that
were seen blocked, and what the simulator charges itself, which are locks, transfers of
lines and wake-ups.

Programs rarely make system calls in short sections, and how much of which section was
in the kernel is not recorded. So time in the kernel is taken to be between sections, as
far as there is room for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from hasp.base.errors import HaspError
from hasp.lab.simulate.machines import machine as machines
from hasp.lab.simulate.machines.machine import Machine
from hasp.lab.simulate.machines.speed import Speed
from hasp.lab.simulate.processors import speed_of
from hasp.predict.kernel_time import held_ns
from hasp.predict.load import Load, LoadSite, Role
from hasp.profile.model.holding import HolderState
from hasp.profile.model.profile import Profile, Site

# A holder in one of these states does not compute.
BLOCKED = (
    HolderState.IO,
    HolderState.ASLEEP,
    HolderState.LOCK,
    HolderState.EVENT,
    HolderState.FAULT,
    HolderState.FUTEX,
)


@dataclass(frozen=True)
class Pace:
    """The speeds of the two machines, and their ratio."""

    recorded: Speed | None
    simulated: Speed | None
    unknown: str = ""  # why there is no ratio; empty if there is one

    @property
    def known(self) -> bool:
        """Return true if computing is scaled."""
        return not self.unknown

    @property
    def slower(self) -> float:
        """How much longer computing takes; 1 if that is not known."""
        if self.recorded is None or self.simulated is None or self.unknown:
            return 1.0
        return self.recorded.score / self.simulated.score

    @property
    def bounds(self) -> tuple[float, float]:
        """The bounds of `slower`, by those of the scores."""
        if self.recorded is None or self.simulated is None or self.unknown:
            return 1.0, 1.0
        return (
            self.recorded.low / self.simulated.high,
            self.recorded.high / self.simulated.low,
        )

    @property
    def estimated(self) -> bool:
        """Return true if one of the scores is an estimate."""
        return any(one and one.estimated for one in (self.recorded, self.simulated))

    def as_json(self) -> dict[str, Any]:
        """Return the object `speed` of hasp.predict/1."""
        low, high = self.bounds
        return {
            "slower": self.slower if self.known else None,
            "low": low if self.known else None,
            "high": high if self.known else None,
            "estimated": self.estimated,
            "recorded": _as_json(self.recorded),
            "simulated": _as_json(self.simulated),
            "unknown": self.unknown or None,
        }


NOT_COMPARED = Pace(None, None, "the speeds of the machines were not compared")


def _as_json(speed: Speed | None) -> dict[str, Any] | None:
    if speed is None:
        return None
    return {"of": speed.words, "benchmark": speed.benchmark, "score": speed.score}


def named(word: str | None, simulated: Machine) -> Speed | None:
    """Return the speed of the machine on which a recording was made.

    `word` is the name of a machine, a machine file, or a score in the benchmark of the
    simulated machine; None if the user gave none. Raises HaspError if that gives no
    speed.
    """
    if word is None:
        return None
    try:
        score = float(word)
    except ValueError:
        pass
    else:
        return _scored(score, simulated)
    found = machines.load(word)
    if found.speed is None:
        raise HaspError(
            f"{word} does not say how fast it is",
            "add [speed] to it, as in docs/machines.md, or give a score",
        )
    return found.speed


def _scored(score: float, simulated: Machine) -> Speed:
    if simulated.speed is None:
        raise HaspError(
            f"{simulated.name} has no score to compare {score:g} with",
            "add [speed] to its machine file, as in docs/machines.md, or leave out "
            "--recorded-on",
        )
    if not 0 < score < float("inf"):
        raise HaspError(f"{score:g} is not a score", "give a number above 0")
    benchmark = simulated.speed.benchmark
    return Speed(benchmark, score, score, score, False, "the recording's machine")


def pace_of(profile: Profile, machine: Machine, given: Speed | None = None) -> Pace:
    """Return the speeds of a recording and of the machine to simulate.

    `given` is that of the recording's machine, if the user named it.
    """
    recorded = given or speed_of(profile.processor)
    if machine.speed is None:
        return Pace(recorded, None, f"{machine.name} has no score")
    if recorded is None:
        what = profile.processor or "the recording's processor, which it does not name"
        return Pace(None, machine.speed, f"no score is known of {what}")
    if recorded.benchmark != machine.speed.benchmark:
        words = (
            f"{recorded.words} has a score of {recorded.benchmark}, {machine.name} of "
            f"{machine.speed.benchmark}"
        )
        return Pace(recorded, machine.speed, words)
    return Pace(recorded, machine.speed)


def scaled(load: Load, pace: Pace, profile: Profile) -> Load:
    """Return the load with its computing times as on the simulated machine."""
    if pace.slower == 1:
        return load
    by_number = {site.number: site for site in profile.sites}
    shares = [computing_share(by_number[one.number]) for one in load.sites]
    roles = tuple(_role(load, role, pace.slower, shares) for role in load.roles)
    sites = tuple(_site(load, at, roles) for at in range(len(load.sites)))
    return replace(load, sites=sites, roles=roles)


def computing_share(site: Site) -> float:
    """Return the share of a site's hold time in which its holders computed.

    By the sampled states of the holders; 1 without samples.
    """
    seen = [one for one in (site.holding, site.long_holding) if one and one.samples]
    samples = sum(one.samples for one in seen)
    blocked = sum(one.samples * one.share(*BLOCKED) for one in seen)
    return 1 - blocked / samples if samples else 1.0


def _site(load: Load, at: int, roles: Sequence[Role]) -> LoadSite:
    """Return a site with its hold time scaled as in the roles that scale.

    `roles` are those of the load, with their new times.
    """
    before, after = (
        sum(role.recorded * role.holds_ns[at] for role in some if role.scales)
        for some in (load.roles, roles)
    )
    site, factor = load.sites[at], after / before if before else 1.0
    return replace(site, hold_ns=factor * site.hold_ns, slower=factor * site.slower)


def _role(load: Load, role: Role, slower: float, shares: Sequence[float]) -> Role:
    """Return a role with its new times.

    `shares`: for each site, the share of a hold in which the holder computes.
    """
    held, kernel = sum(held_ns(load, role)), role.kernel_ns or 0.0
    between = min(kernel, role.gap_ns)
    inside = (kernel - between) / held if held else 0.0
    holds = tuple(
        ns * (1 + max(0.0, share - inside) * (slower - 1))
        for share, ns in zip(shares, role.holds_ns, strict=True)
    )
    gap_ns = between + slower * (role.gap_ns - between)
    return replace(role, gap_ns=gap_ns, holds_ns=holds)
