# SPDX-License-Identifier: MIT
"""The sentence that a report begins with, and the numbers it rests on."""

from __future__ import annotations

from dataclasses import dataclass

from hasp.profile.model import Profile
from hasp.report.profile.figures import contended_share, idle_rows, rows
from hasp.report.profile.words import count, plural, share, time


@dataclass(frozen=True)
class Verdict:
    """What is wrong, in one sentence, and why one should believe it."""

    sentence: str
    evidence: tuple[str, ...]


def is_empty(profile: Profile) -> bool:
    """The program never used a lock that was seen."""
    return not rows(profile) and not idle_rows(profile)


EMPTY = (
    "The program used no lock: it called no function of pthread mutexes, rwlocks, "
    "spinlocks, condition variables or barriers while more than one thread ran."
)


def verdict(profile: Profile) -> Verdict:
    """Of a profile."""
    if is_empty(profile):
        return Verdict(EMPTY, ())
    return _own(profile)


def _own(profile: Profile) -> Verdict:
    """Without the advisor: what took most of the time."""
    found = rows(profile)
    if not found:
        return Verdict("The threads only waited for each other's signals.", ())
    top = found[0]
    sentence = (
        f"{share(top.site.share, ' ')} of the threads' time goes to {top.name}: "
        f"{time(top.use.wait.total_ns)} waiting for it, {time(top.use.hold.total_ns)} "
        "holding it."
    )
    threads = plural(len(profile.threads), "thread")
    evidence = (
        f"{share(profile.section_share, ' ')} of all threads' time is in critical "
        f"sections ({threads}, {plural(profile.cpus, 'CPU')})",
        f"{share(contended_share(top.use), ' ')} of {count(top.use.acquisitions)} "
        f"acquisitions of {top.name} had to wait",
    )
    return Verdict(sentence, evidence)
