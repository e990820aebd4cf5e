# SPDX-License-Identifier: MIT
"""The headline of a report: verdict, evidence and advice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hasp.base.errors import HaspError
from hasp.profile.model.profile import Profile
from hasp.profile.model.waiting import waiting
from hasp.profile.report.figures import Row, contended_share, idle_rows, rows
from hasp.profile.report.words import count, plural, share, time

if TYPE_CHECKING:
    from hasp.profile.diagnosis.verdict import SiteVerdict
    from hasp.profile.diagnosis.verdict import Verdict as Advice


@dataclass(frozen=True)
class SiteAdvice:
    """The advice for one site."""

    site: int
    name: str
    bottlenecks: tuple[str, ...]
    # a lock algorithm of `hasp list`; None: keep the present one
    recommendation: str | None
    keep: str  # why no other algorithm is worth it
    alternatives: tuple[str, ...]
    avoid: tuple[str, ...]
    hints: tuple[str, ...]  # remedies other than another algorithm
    cautions: tuple[str, ...]

    @property
    def words(self) -> str:
        """The advice in one line; empty if there is none."""
        parts = []
        if self.recommendation:
            others = (
                f" (or {', '.join(self.alternatives)})" if self.alternatives else ""
            )
            parts.append(f"try the algorithm {self.recommendation}{others}")
        parts += [self.keep] if self.keep else []
        parts += [f"avoid {', '.join(self.avoid)}"] if self.avoid else []
        parts += [*self.hints, *self.cautions]
        return f"{self.name}: {'; '.join(parts)}" if parts else ""


@dataclass(frozen=True)
class Verdict:
    """The verdict in one sentence, with its evidence."""

    sentence: str
    evidence: tuple[str, ...]
    bottlenecks: tuple[str, ...] = ()
    advice: tuple[SiteAdvice, ...] = ()
    hints: tuple[str, ...] = ()  # for the whole program
    hang: tuple[str, ...] = ()  # which thread waited for which in a final deadlock


EMPTY = (
    "the program used no lock: it called no function of pthread mutexes, rwlocks, "
    "spinlocks, condition variables or barriers while more than one thread ran."
)
DOUBTFUL = "no lock was found in the readable part of this trace."
DAMAGED = "this trace is damaged, and parts of it are missing here: "


def is_empty(profile: Profile) -> bool:
    """Return true if no lock in the trace was used."""
    return not rows(profile) and not idle_rows(profile)


def empty_words(profile: Profile) -> str:
    """Explain why no lock was used, which an incomplete trace cannot prove."""
    if profile.damaged:
        return DAMAGED + DOUBTFUL
    return DOUBTFUL if profile.warnings else EMPTY


def verdict(profile: Profile) -> Verdict:
    """Return the verdict of the diagnosis, preceded by the standard evidence.

    The sentence of a damaged trace begins with a warning.
    """
    found = _verdict(profile)
    if profile.damaged and not is_empty(profile):
        return replace(found, sentence=DAMAGED + found.sentence)
    return found


def _verdict(profile: Profile) -> Verdict:
    if is_empty(profile):
        return Verdict(empty_words(profile), ())
    hang = waiting(profile)
    if hang.is_deadlock:
        lines = hang.lines()
        return Verdict(lines[0], evidence(profile, rows(profile)), hang=(*lines[1:],))
    found = rows(profile)
    general = evidence(profile, found)
    try:
        from hasp.profile.diagnosis import advise

        advice: Advice = advise(profile)
    except HaspError as problem:  # diagnosis needs native programs, a report does not
        return Verdict(plain(found), (*general, f"no advice: {problem.message}"))
    return Verdict(
        advice.sentence,
        (*general, *advice.evidence),
        tuple(advice.bottlenecks),
        tuple(map(_site_advice, advice.sites)),
        (*advice.hints, *advice.cautions),
    )


def _site_advice(site: SiteVerdict) -> SiteAdvice:
    return SiteAdvice(
        site.site,
        site.name,
        site.bottlenecks,
        site.recommendation,
        site.keep,
        site.alternatives,
        site.avoid,
        site.hints,
        site.cautions,
    )


def plain(found: list[Row]) -> str:
    """Return the headline of a report without diagnosis, about the largest cost."""
    if not found:
        return "No lock was acquired; threads only waited for each other's signals"
    top = found[0]
    return (
        f"{share(top.site.share, ' ')} of thread time is spent on {top.name}: "
        f"{time(top.use.wait.total_ns)} waiting for it, {time(top.use.hold.total_ns)} "
        "holding it"
    )


def evidence(profile: Profile, found: list[Row]) -> tuple[str, ...]:
    """Return the figures at the start of every report."""
    threads = plural(profile.thread_count, "thread")
    lines = [
        f"{share(profile.section_share, ' ')} of all threads' time is in critical "
        f"sections ({threads}, {plural(profile.cpus, 'CPU')})"
    ]
    if found:
        top = found[0]
        lines.append(
            f"{share(contended_share(top.use), ' ')} of {count(top.use.acquisitions)} "
            f"acquisitions of {top.name} had to wait"
        )
    if profile.events:
        found_words = plural(len(profile.events), "finding")
        lines.append(f"{found_words} of lock misuse or lock order, see below")
    return tuple(lines)
