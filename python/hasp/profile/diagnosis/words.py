# SPDX-License-Identifier: MIT
"""Verdicts as sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hasp.base.durations import format_duration, three_digits
from hasp.locks.native import REFERENCE
from hasp.profile.diagnosis.evaluate import Fired, Number
from hasp.profile.diagnosis.features import Features, SiteFeatures
from hasp.profile.diagnosis.measures import measures

# The study's names of bottlenecks, and their descriptions in sentences, with the
# technical term in parentheses if it is not in the description.
BOTTLENECKS = {
    "contention:high": "threads often wait for each other (high contention)",
    "contention:extreme": "threads nearly always wait (extreme contention)",
    "trylock-contention": "threads poll it without success",
    "many-uncontended": "it is acquired very often, with hardly any waiting",
    "lock-holder-preemption": "more runnable threads than CPUs, so spinning "
    "locks would collapse (holder preemption)",
    "lock-handover": "its threads sleep so often that a queue would hand it over "
    "slowly (lock handover)",
    "memory-footprint:page-erase": "their memory is zeroed first (page faults)",
    "memory-footprint:kernel-lock-in-page-fault": "locks are created all the time, in "
    "newly mapped memory (page faults)",
    "waking": "waking its waiters costs more than its sections (handovers through the "
    "scheduler)",
    "unfairness": "one thread takes it again before the others get it",
    "memory-contention": "memory is the bottleneck, not the lock",
}

# Properties as adjectives of locks.
QUALITIES = {
    "parks": "parking",
    "fifo": "FIFO",
    "numa": "hierarchical",
    "light": "light",
    "trylock_hardened": "trylock-hardened",
    "small": "small",
    "throttles": "throttling",
}


LOOSE = 1.0  # a bound of twice as fast or more is not worth printing


def percent(share: float) -> str:
    """Return a share as a percentage."""
    if 0 < share < 0.01:
        return "less than 1 %"
    return f"{100 * share:.0f} %"


def quantity(value: float, unit: str) -> str:
    """Return a measure with its unit."""
    if unit == "share":
        return f"{100 * value:.1f} %" if value < 0.1 else f"{100 * value:.0f} %"
    if unit == "ns":
        return format_duration(value / 1e9)
    if unit == "x":
        return f"{value:,.0f}x" if value >= 100 else f"{three_digits(value)}x"
    whole = value >= 1000 or (value == int(value) and not unit.startswith("/"))
    number = f"{value:,.0f}" if whole else three_digits(value)
    return f"{number}{unit if unit.startswith('/') else ' ' + unit}".rstrip()


BOUNDS = {">=": "{} or more", ">": "over {}", "<=": "up to {}", "<": "under {}"}


def numbers_words(numbers: Sequence[Number]) -> str:
    """Return `threads waiting ...:

    34 % (16 % or more, up to 63 %)`, each measure once.
    """
    words: dict[str, list[str]] = {}
    for number in numbers:
        measure = measures()[number.measure]
        if measure.unit == "flag":  # its threshold adds nothing
            words[f"{measure.about}: {'yes' if number.value else 'no'}"] = []
            continue
        limit = quantity(number.limit, measure.unit)
        bound = BOUNDS[number.comparison].format(limit)
        value = f"{measure.about}: {quantity(number.value, measure.unit)}"
        words.setdefault(value, []).append(bound)
    return "; ".join(
        f"{value} ({', '.join(bounds)})" if bounds else value
        for value, bounds in words.items()
    )


def sentence(
    lead: SiteFeatures, bottlenecks: Sequence[str], trouble: str, answer: str
) -> str:
    """Return the verdict: the lock, its problem, and the advice."""
    return f"{_cost(lead, bottlenecks)}: {trouble}; {answer}"


def lock_words(lock: str) -> str:
    """Return the name of the present lock algorithm in a sentence."""
    return "glibc's lock" if lock in ("", REFERENCE) else f"the algorithm {lock}"


def taken_words(lock: str, site: SiteFeatures) -> str:
    """Return the recommendation of an algorithm with the bound of its gain."""
    if site.gain is None or site.gain >= LOOSE:
        return f"try the algorithm {lock}"
    return f"try the algorithm {lock} (at most {percent(site.gain)} faster)"


def kept_words(why: str, site: SiteFeatures, lock: str) -> str:
    """Return the advice to keep the present algorithm; the bound is rounded up."""
    most = max(1, math.ceil(100 * (site.gain or 0.0)))
    return f"keep {lock_words(lock)}: {why.format(gain=f'{most} %')}"


def no_bottleneck(features: Features) -> str:
    """Return the sentence for programs whose locks take little of the time."""
    lead = max(features.sites, key=lambda site: site.share or 0.0, default=None)
    most = (lead.share if lead else None) or 0.0
    # Sums of sites are scaled up from samples, so one may exceed the total.
    share = max(features.section_share or 0.0, most)
    words = f"locks are not your bottleneck: {percent(share)} "
    words += "of thread time is spent in critical sections"
    if lead is not None and most:
        words += f", most of it ({percent(most)}) at {lead.name}"
    return words


def _cost(site: SiteFeatures, bottlenecks: Sequence[str]) -> str:
    """Return the cost of the site, by the measure of its first bottleneck."""
    waiting = site.wait_share or 0.0
    first = bottlenecks[0] if bottlenecks else ""
    if first.endswith("kernel-lock-in-page-fault") and site.creations_per_s:
        rate = f"{site.creations_per_s:,.0f} locks are created per second"
        return f"{rate} at {site.name}"
    if first.startswith("memory-footprint") and site.locks:
        faults = site.lock_fault_share
        cost = f", {percent(faults)} of the run in page faults" if faults else ""
        return f"{site.locks:,.0f} locks are created at {site.name}{cost}"
    if first == "trylock-contention" and site.trylock_failure_share is not None:
        return (
            f"{percent(site.trylock_failure_share)} of the trylocks of {site.name} fail"
        )
    if first == "many-uncontended" and site.operation_share is not None:
        share = percent(site.operation_share)
        return f"{share} of CPU time is spent acquiring {site.name}"
    if waiting >= 0.01:
        return f"{percent(waiting)} of thread time is spent waiting for {site.name}"
    share = percent(site.share or 0.0)
    return f"{share} of thread time is spent holding {site.name}"


def evidence(fired: Sequence[Fired], names: dict[int, str]) -> list[str]:
    """Return a line for each rule that fired: title, numbers and source."""
    lines = []
    for item in fired:
        if item.rule.silent or not item.numbers:
            continue
        where = f"{names[item.site]}: " if item.site is not None else ""
        numbers = numbers_words(item.numbers)
        rule = f"{item.rule.id}, {item.rule.source}"
        lines.append(f"{where}{item.rule.title}. {numbers} [{rule}]")
    return lines
