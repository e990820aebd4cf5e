# SPDX-License-Identifier: MIT
"""A prediction as text: the verdict, the configurations, the locks, and doubts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hasp.base.output import console
from hasp.elide.answer import Data, LockAnswer, Point, Prediction
from hasp.elide.configurations import CONFIGURATIONS, same_as
from hasp.elide.options import Options
from hasp.elide.verdict import reasons, verdict
from hasp.predict.report import USELESS, cell, with_range
from hasp.profile.model.profile import Profile
from hasp.profile.report.layout import print_table
from hasp.profile.report.text import say
from hasp.profile.report.words import count, plural, share, short_time

if TYPE_CHECKING:
    from rich.console import Console

JUDGEMENTS = {
    "gains": "gains",
    "depends": "if data differs",
    "loses": "loses",
    "risks": "may lose",
    "never": "never commits",
    "indifferent": "no effect",
}


def show(options: Options, profile: Profile, prediction: Prediction) -> None:
    """Print the prediction."""
    out = console()
    say(out, verdict(prediction), style="bold")
    if prediction.load is None:
        return
    for data in prediction.assumptions:
        _configurations(out, prediction, data)
    _locks(out, prediction)
    for sentence in reasons(prediction.locks):
        say(out, sentence)
    print()
    say(out, assumptions(options, prediction))
    for doubt in doubts(profile, prediction):
        say(out, doubt, "doubt: ")


def _configurations(out: Console, prediction: Prediction, data: Data) -> None:
    print()
    what = {
        Data.OWN: "if two sections of a lock touch different data",
        Data.SHARED: "if two sections of a lock touch the same data",
        Data.GIVEN: "with the given share of conflicts",
    }[data]
    say(
        out,
        f"Predicted throughput, {what}, as a multiple of that with the program's "
        f"mutexes not elided (fine, {prediction.lock}); threads:",
    )
    rows = []
    for one in CONFIGURATIONS:
        points = [
            prediction.points.get(Point(one, n, data))
            or prediction.points.get(Point(same_as(one), n, data))
            for n in prediction.threads
        ]
        rows.append([one.name, *(cell(p) if p else "-" for p in points)])
    print_table(out, ["", *map(str, prediction.threads)], rows)


def _locks(out: Console, prediction: Prediction) -> None:
    if not prediction.locks:
        return
    print()
    say(
        out,
        f"Each lock, elided, with {plural(prediction.most, 'thread')} (predicted); "
        "taking: the share of the threads' time to acquire and release it:",
    )
    headings = [
        *("lock", "sections\na second", "hold", "lines", "never"),
        *("commit", "taking", "elided", "elision"),
    ]
    print_table(out, headings, [_row(one) for one in prediction.locks])


def _row(one: LockAnswer) -> list[str]:
    looks = list(one.outlooks.values())
    return [
        one.name,
        count(one.sections_per_s),
        short_time(one.hold_ns),
        "-" if one.lines is None else f"{one.lines:.0f}",
        share(one.obstacles.never),
        _both([look.committed.median for look in looks]),
        _both([look.fine.median for look in looks]),
        _both([look.elided.median for look in looks]),
        JUDGEMENTS[one.judgement],
    ]


def _both(shares: list[float]) -> str:
    """Return the range of shares under all assumptions: `3-97%`."""
    low, high = (round(100 * one) for one in (min(shares), max(shares)))
    return f"{low}%" if low == high else f"{low}-{high}%"


def assumptions(options: Options, prediction: Prediction) -> str:
    """Return how the figures were obtained, in sentences."""
    load = prediction.load
    assert load
    base = ""
    if prediction.baseline:
        base = (
            f" With the recorded {plural(load.workers, 'thread')} it reaches "
            f"{with_range(prediction.baseline)} times the recorded throughput."
        )
    conflicts = (
        "A recording does not show which data a section touches, so both extremes are "
        "simulated; --conflicts sets the share of sections of one lock that conflict."
        if options.conflicts is None
        else f"Two sections of a lock conflict in {1 / options.parts:.0%} of the cases."
    )
    varied = f" and {load.varied}" if load.varied else ""
    return (
        f"Predicted by simulation of {options.machine.title}; nothing was elided here."
        f"{base} {conflicts} Ranges cover 1 to 8 cache lines written in a section"
        f"{varied} ({plural(prediction.simulations, 'simulation')})."
    )


def doubts(profile: Profile, prediction: Prediction) -> Iterator[str]:
    """Yield reasons to doubt the prediction."""
    base = prediction.baseline
    if base and abs(base.median - 1) > USELESS:
        yield (
            f"with the recorded threads, the simulation reaches {with_range(base)} "
            "times the recorded throughput: do not rely on these figures"
        )
    if prediction.variants < prediction.planned:
        yield (
            f"only {prediction.variants} of {prediction.planned} variants were "
            "simulated: ranges are too narrow"
        )
    if prediction.left_out:
        yield (
            f"{plural(prediction.left_out, 'further site')} of mutexes that are held "
            "less are neither simulated nor shown"
        )
    for name, conflicts in prediction.crowded:
        yield (
            f"{name} has so many locks that two sections of one of them conflict in "
            f"at least {share(conflicts, ' ')} of the cases here"
        )
    if profile.holding_absent:
        yield "holders were not sampled, so system calls in sections are unknown"
    yield (
        "system calls that never sleep, and capacity, are known only as far as holders "
        "were sampled while others waited, and cache misses counted"
    )
