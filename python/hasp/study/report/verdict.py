# SPDX-License-Identifier: MIT
"""The verdicts of a study as sentences, at the top of every report."""

from __future__ import annotations

import numpy

from hasp.statistics.contest import WORSE
from hasp.study.report.summary import Summary, ranking

# A lock to avoid costs over 15 % on at least this share of the sensitive programs, even
# at its best size, and is significantly worse than the best on at least one of them.
AVOID_FROM = 50.0
AT_MOST_NAMED = 5


def sentences(summary: Summary) -> list[str]:
    """State how much locks matter, which to use or avoid, and with what certainty."""
    count, total = int(summary.sensitive.sum()), len(summary.grid.programs)
    largest = summary.grid.sizes[-1]
    unit = summary.size_unit if largest != 1 else summary.size_unit.rstrip("s")
    if not count:
        return [
            f"The lock does not matter on {summary.machine}: none of {total} programs "
            f"is lock-sensitive ({summary.metric}, up to {largest} {unit})."
        ]
    gains = summary.gain["max"][summary.sensitive]
    programs = "1 program" if total == 1 else f"{total} programs"
    median, most = times(float(numpy.median(gains))), times(float(gains.max()))
    usual, at_most = ("", "") if count == 1 else ("a median of ", f", and up to {most}")
    said = [
        f"The lock matters to {count} of {programs} on {summary.machine} "
        f"({summary.metric}): with up to {largest} {unit}, "
        + (
            f"the worst lock takes {usual}{median} as much as the best{at_most}."
            if summary.inverted
            else f"the best lock has {usual}{median} the figure of the worst{at_most}."
        )
    ]
    said += _undecided(summary)
    said += _to_take(summary)
    said += _to_keep(summary)
    said += _to_avoid(summary)
    said += _to_beware_of(summary)
    said.append(
        f"{summary.runs:,} runs; {100 * summary.cannot_tell:.0f} % of the comparisons "
        "with the best lock are inconclusive (Welch's test, corrected by Holm)."
    )
    return said


def _undecided(summary: Summary) -> list[str]:
    """Return the programs whose runs scatter more than the locks differ."""
    places = [
        int(index)
        for index in numpy.flatnonzero(summary.sensitive)
        if all(one.verdict != WORSE for one in summary.contests[index].values())
    ]
    if not places:
        return []
    names = _names(summary.grid.programs, places)
    return [f"On {names}, the runs do not distinguish any lock from the best."]


def _to_take(summary: Summary) -> list[str]:
    locks, coverage = summary.grid.locks, summary.coverage["opt"]
    order = ranking(coverage)
    if not order:
        return []
    most = coverage[order[0]]
    first = [index for index in order if coverage[index] == most]
    verb = "is" if len(first) == 1 else "are"
    widest = (
        f"No lock suits all: {_names(locks, first)} {verb} within 5 % of the best for "
        f"the most of them, {most:.0f} % (each lock at its best size)"
        if most < 100
        else f"{_names(locks, first)} {verb} within 5 % of the best for all of them"
    )
    harm = summary.harmful["opt"]
    safest = min(order, key=lambda index: (harm[index], -coverage[index]))
    if most == 100:
        return [f"{widest}."]
    who = "it also harms" if [safest] == first else f"{locks[safest]} harms"
    return [f"{widest}; {who} the fewest, over 15 % behind on {harm[safest]:.0f} %."]


def _to_keep(summary: Summary) -> list[str]:
    """Return the standing of the reference among the locks."""
    if summary.reference is None:
        return []
    place = summary.grid.locks.index(summary.reference)
    best, harm = summary.coverage["opt"][place], summary.harmful["opt"][place]
    if numpy.isnan(best):
        return []
    return [
        f"{summary.reference}'s own lock is within 5 % of the best for {best:.0f} % of "
        f"them, and over 15 % behind on {harm:.0f} %."
    ]


def _to_beware_of(summary: Summary) -> list[str]:
    """Collapse under some locks, distinguished from a decline under all."""
    measured = ~numpy.isnan(summary.grid.at("max"))
    falls = summary.collapsed.any(axis=1)
    always = falls & (summary.collapsed | ~measured).all(axis=1)
    said = []
    if count := int((falls & ~always).sum()):
        said.append(
            f"On {count} program{'s' if count > 1 else ''} a lock collapses: at the "
            "largest size it is below half of its own peak."
        )
    if always.any():
        names = _names(
            summary.grid.programs, [int(index) for index in numpy.flatnonzero(always)]
        )
        said.append(
            f"On {names}, {summary.metric} falls below half of its peak under every "
            "lock: no lock prevents that, or the work grows with the size."
        )
    return said


def _names(all_of_them: tuple[str, ...], places: list[int]) -> str:
    named = [all_of_them[place] for place in places[:AT_MOST_NAMED]]
    more = len(places) - len(named)
    return ", ".join(named) + (f" and {more} more" if more > 0 else "")


def _to_avoid(summary: Summary) -> list[str]:
    harm = summary.harmful["opt"]
    told_apart = {
        lock
        for found in summary.contests
        for lock, one in found.items()
        if one.verdict == WORSE
    }
    locks = summary.grid.locks
    bad = [
        index
        for index in ranking(harm)
        if harm[index] >= AVOID_FROM and locks[index] in told_apart
    ]
    if not bad:
        return []
    shares = tuple(
        f"{lock} ({share:.0f} %)" for lock, share in zip(locks, harm, strict=True)
    )
    return [
        f"Avoid {_names(shares, bad)}: even at its best size each is over 15 % "
        "behind the best on at least half of them."
    ]


def times(gain: float) -> str:
    """Return a gain as text: 0.5 is `1.50x`."""
    factor = 1 + gain
    return f"{factor:.2f}x" if factor < 10 else f"{factor:,.0f}x"
