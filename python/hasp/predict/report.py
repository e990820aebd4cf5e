# SPDX-License-Identifier: MIT
"""The answer of `hasp predict` as text, with the most important sentence first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hasp.base.output import console
from hasp.locks.kinds import MUTEX
from hasp.predict.answer import SPLIT, SUGGESTED, Answer, Gain, Range
from hasp.predict.load import LoadSite
from hasp.predict.options import Options
from hasp.predict.pace import Pace
from hasp.predict.saturation import Saturation
from hasp.profile.diagnosis.what_if.change import What
from hasp.profile.diagnosis.words import percent
from hasp.profile.model.profile import Profile
from hasp.profile.report.layout import print_table
from hasp.profile.report.text import say
from hasp.profile.report.words import count, listed, plural, short_time

if TYPE_CHECKING:
    from rich.console import Console

SPREAD = 0.05  # results that differ more are printed as a range
USELESS = 0.5  # error of the simulated throughput with the recorded threads
LEAST_SHARE = 0.005  # of the computing in the kernel, to be worth a sentence
IN_A_ROW = 6  # numbers of threads, as many as fit in 80 columns


def show(
    options: Options, profile: Profile, answer: Answer, doubts: Sequence[str]
) -> None:
    """Print the answer, the table, the changes, and how far to trust them."""
    out = console()
    for sentence in sentences(options.machine.name, answer):
        say(out, sentence, style="bold")
    _curves(out, answer)
    if answer.gains:
        _gains(out, answer)
    print()
    say(out, assumptions(options, profile, answer))
    for doubt in doubts:
        say(out, doubt, "doubt: ")


def sentences(machine: str, answer: Answer) -> Iterator[str]:
    """Yield the answer in sentences."""
    most = answer.threads[-1]
    where = f"On {plural(most, 'CPU')} of {machine}"
    if most > answer.cpus:
        cpus = "CPU" if answer.cpus == 1 else f"{answer.cpus} CPUs"
        where = f"With {plural(most, 'thread')} on the {cpus} of {machine}"
    yield f"{where} (simulated), {_saturation(answer)}."
    curve = answer.curve(answer.reference)
    if curve:
        yield _reached(answer, curve.points)
    if answer.best and answer.advantage:
        yield _best(answer)
    if answer.baseline and abs(answer.baseline.median - 1) > USELESS:
        yield (
            "But with the recorded number of threads, the simulation reaches "
            f"{with_range(answer.baseline)} times the recorded throughput: do not rely "
            "on these figures."
        )
    built_in = [gain for gain in answer.gains if _is_built_in(answer, gain)]
    if built_in:
        yield _helps(answer, built_in)
    for gain in answer.gains:
        if gain not in built_in and gain.then:
            words = f"{gain.change.name} {gain.change.words}"
            factor = f"{with_range(gain.points[most])} times"
            yield f"'{words}' gives {factor}{_after(answer, gain)}."


def _saturation(answer: Answer) -> str:
    found, most = answer.saturated, answer.threads[-1]
    if found is None:
        return "the simulation was interrupted before the locks were compared"
    name = load_site(answer, found.site).name
    if found.threads is None:
        if found.waiting > 0.5:
            return (
                "no lock is held all the time, but threads spend "
                f"{percent(found.waiting)} of their time acquiring {name}"
            )
        return (
            f"no lock saturates with up to {plural(most, 'thread')}; the busiest one, "
            f"{name}, is in use {percent(found.busy)} of the time"
        )
    return f"{name} saturates at {_at(found)}"


def _at(found: Saturation) -> str:
    """Return the number of threads at which a lock saturates, and its range."""
    words = plural(found.threads or 0, "thread")
    if found.high is None:
        return f"{words} ({found.low} or more; in some simulations never)"
    if found.low == found.high:
        return words
    return f"{words} ({found.low} to {found.high})"


def _reached(answer: Answer, points: dict[int, Range]) -> str:
    most = answer.threads[-1]
    peak = max(points, key=lambda threads: points[threads].median)
    words = (
        f"Under {answer.reference}, {plural(most, 'thread')} reach "
        f"{with_range(points[most])} times the recorded throughput"
    )
    if points[peak].median > 1.05 * points[most].median:
        more = "reaches" if peak == 1 else "reach"
        return f"{words}; {plural(peak, 'thread')} {more} {with_range(points[peak])}."
    return f"{words}."


def _best(answer: Answer) -> str:
    most, best = answer.threads[-1], answer.best
    assert best is not None and answer.advantage is not None
    found = answer.saturated
    if found and load_site(answer, found.site).rwlock and answer.load.kind is MUTEX:
        return (
            "That is a reader-writer lock, so the algorithm of the mutexes matters "
            "little; --rwlock simulates another one for it."
        )
    if best == answer.reference or not answer.is_better:
        return (
            f"No other lock that was simulated is better than {answer.reference} at "
            f"{plural(most, 'thread')} in every simulation."
        )
    points = {curve.lock: curve.points[most] for curve in answer.curves}
    near = [
        curve.lock
        for curve in answer.curves
        if curve.lock != best and points[curve.lock].median > 0.95 * points[best].median
    ]
    also = f" {listed(near)} {'is' if len(near) == 1 else 'are'} within 5 %." * bool(
        near
    )
    return (
        f"Take {best}: {with_range(points[best])} times, or "
        f"{with_range(answer.advantage)} times {answer.reference}.{also}"
    )


def load_site(answer: Answer, index: int) -> LoadSite:
    """Return a site of the answer's load by its index."""
    return answer.load.sites[index]


def _is_built_in(answer: Answer, gain: Gain) -> bool:
    found = answer.saturated
    if found is None:
        return False
    change = gain.change.change
    same = gain.change.site == load_site(answer, found.site).number
    return same and (change.what, change.value) in SUGGESTED


def _after(answer: Answer, gain: Gain) -> str:
    """Return what limits the program after a change."""
    if gain.then is None:
        other = gain.limit and gain.limit != gain.change.name
        return f", and then {gain.limit} is saturated" if other else ""
    if gain.then.threads is None:
        return ", and then no lock saturates"
    name = load_site(answer, gain.then.site).name
    who = "it" if name == gain.change.name else name
    return f", and then {who} saturates at {_at(gain.then)}"


def _helps(answer: Answer, gains: Sequence[Gain]) -> str:
    most, parts = answer.threads[-1], []
    for gain in gains:
        words = (
            "halving its sections"
            if gain.change.change.what is What.HOLD
            else f"splitting it into {SPLIT} locks"
        )
        after = _after(answer, gain)
        parts.append(f"{words} gives {with_range(gain.points[most])} times{after}")
    return f"With {gains[0].lock} and {plural(most, 'thread')}, {'; '.join(parts)}."


def number(value: float) -> str:
    """Return a factor with two or three digits."""
    return (
        f"{value:.2f}"
        if value < 9.995
        else f"{value:.1f}"
        if value < 99.95
        else f"{value:.0f}"
    )


def with_range(one: Range) -> str:
    """Return `6.10 (5.20 to 6.90)`, or the median alone if the range is small."""
    if one.high - one.low <= SPREAD * one.median:
        return number(one.median)
    return f"{number(one.median)} ({number(one.low)} to {number(one.high)})"


def cell(one: Range) -> str:
    """Return the range, or the median alone if the range is small."""
    if one.high - one.low <= SPREAD * one.median:
        return number(one.median)
    return f"{short(one.low)}-{short(one.high)}"


def short(value: float) -> str:
    """Return a factor with two digits."""
    return (
        f"{value:.2f}"
        if value < 0.995
        else f"{value:.1f}"
        if value < 9.95
        else f"{value:.0f}"
    )


def _curves(out: Console, answer: Answer) -> None:
    most = answer.threads[-1]
    curves = sorted(answer.curves, key=lambda curve: -curve.points[most].median)
    for start in range(0, len(answer.threads), IN_A_ROW):
        threads = answer.threads[start : start + IN_A_ROW]
        rows = [
            [curve.lock, *(cell(curve.points[n]) for n in threads)] for curve in curves
        ]
        print()
        say(
            out,
            f"Simulated throughput as a multiple of the recorded "
            f"{count(answer.rate)} sections a second; threads:",
        )
        print_table(out, ["", *map(str, threads)], rows)


def _gains(out: Console, answer: Answer) -> None:
    for site in dict.fromkeys(gain.change.name for gain in answer.gains):
        own = [gain for gain in answer.gains if gain.change.name == site]
        threads = sorted({n for gain in own for n in gain.points})
        for start in range(0, len(threads), IN_A_ROW):
            part = threads[start : start + IN_A_ROW]
            rows = [
                [gain.change.words, *(cell(gain.points[n]) for n in part)]
                for gain in own
            ]
            print()
            say(
                out,
                f"If {site} changes, times the throughput without the change, under "
                f"{own[0].lock}; threads:",
            )
            print_table(out, ["", *map(str, part)], rows)


def assumptions(options: Options, profile: Profile, answer: Answer) -> str:
    """Return how the figures came about, in sentences."""
    load = answer.load
    stands = {
        "futex": " futex has the algorithm of glibc's mutex.",
        "rw-futex": " rw-futex stands for glibc's reader-writer lock.",
    }.get(answer.reference, "")
    base = ""
    if answer.baseline:
        base = (
            f" With the recorded {plural(load.workers, 'thread')}"
            f"{_at_speed(answer.pace)} the simulation reaches "
            f"{with_range(answer.baseline)} times the recording."
        )
    words = options.machine.latency_words
    source = f" {words}" if words else ""
    gap = short_time(load.roles[0].gap_ns)
    varied = f"{load.varied}, " if load.varied else ""
    return (
        f"Simulated, not measured: {plural(len(load.sites), 'site')} of locks, and "
        f"threads that run {gap} between two sections. {speed_words(answer)}"
        f"{stands}{base} Ranges cover {varied}1 to 8 cache lines written in a "
        f"section, and seeds ({answer.simulations} simulations).{source}"
    )


def speed_words(answer: Answer) -> str:
    """Return in one or two sentences how fast the threads compute."""
    pace = answer.pace
    if pace.recorded is None or pace.simulated is None or not pace.known:
        return f"They compute as fast as on the recording's CPU: {pace.unknown}."
    factor = with_range(Range(pace.slower, *pace.bounds))
    estimated = " (estimated)" if pace.estimated else ""
    return (
        f"Computing takes {factor} times as long as recorded, by "
        f"{pace.simulated.benchmark}: {pace.simulated.score:g} of "
        f"{pace.simulated.words}, {pace.recorded.score:g} of "
        f"{pace.recorded.words}{estimated}.{kernel_words(answer)}"
    )


def kernel_words(answer: Answer) -> str:
    """Return in a sentence what is not scaled; empty if that is nothing, or unknown."""
    share = answer.kernel_share
    if not share or share < LEAST_SHARE or answer.pace.slower == 1:
        return ""
    return (
        f" That is for user mode; the rest, {percent(share)} of the recorded "
        "computing, was in the kernel and takes as long as recorded."
    )


def _at_speed(pace: Pace) -> str:
    return " at the recorded speed" if pace.slower != 1 else ""
