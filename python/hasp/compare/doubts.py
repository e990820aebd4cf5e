# SPDX-License-Identifier: MIT
"""Warnings about a comparison: what is doubtful, and what to do about it.

Each warning is a value, as in hyperfine.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from hasp.compare import run_record as record
from hasp.compare.noise import OTHER_SHARE
from hasp.compare.settings import Cell
from hasp.compare.store import INTERRUPTED, Comparison
from hasp.compare.summary import (
    CANNOT_TELL,
    WORTH_FINDING,
    CellSummary,
    Estimate,
    power,
)
from hasp.locks.native import REFERENCE
from hasp.statistics import outliers
from hasp.statistics.simultaneous import FEWEST_ROUNDS

# Starting a program under a lock takes one or two milliseconds longer than without one,
# which is at most 2 % of a run of at least this length.
SHORTEST_RUN = 0.1  # seconds
WIDE = 0.2  # an interval around 1 that is at least this wide gets a warning
SLOW_FIRST = 1.2  # ratio of a slow first run to the median of the others
STEAL_SHARE = 0.01
BUSY_LOAD = 0.5  # load average per CPU at the start of the comparison
LONGEST_LIST = 5  # names in one sentence
NOISY_SPREAD = 0.1  # median distance of the reference's runs from their median
COLLAPSED = 2.0  # factor by which a collapsed lock is worse than the reference


@dataclass(frozen=True)
class Doubt:
    """One warning: its kind, and its text."""

    kind: str
    words: str


def doubts(comparison: Comparison, rows: list[CellSummary]) -> list[Doubt]:
    """Every warning about a comparison, the most serious first."""
    found: list[Doubt] = []
    for check in (
        _interrupted,
        _failing_command,
        _few_runs,
        _too_short,
        _host,
        _noisy_reference,
        _oversubscribed,
        _first_run_slow,
        _outliers,
        _cannot_tell,
        _not_positive,
    ):
        found += check(comparison, rows)
    return found


def _names(cells: list[Cell]) -> str:
    names = [cell.words for cell in cells]
    more = len(names) - LONGEST_LIST
    return (
        ", ".join(names) if more <= 1 else f"{', '.join(names[:-more])} and {more} more"
    )


def _interrupted(comparison: Comparison, rows: list[CellSummary]) -> list[Doubt]:
    if not comparison.interrupted:
        return []
    return [Doubt(INTERRUPTED, "interrupted: these are the runs until then")]


def _failing_command(comparison: Comparison, rows: list[CellSummary]) -> list[Doubt]:
    """Failures without Hasp, for which no lock is responsible."""
    struck = [row for row in rows if row.is_reference and row.failures]
    if not struck:
        return []
    failed = sum(sum(row.failures.values()) for row in struck)
    words = (
        f"the command also failed without Hasp, in {failed} of "
        f"{sum(row.attempts for row in struck)} runs, so failures under a lock may not "
        "be the lock's; make the command repeatable, for example with --prepare"
    )
    return [Doubt("failing_command", words)]


def _few_runs(comparison: Comparison, rows: list[CellSummary]) -> list[Doubt]:
    sound = [row for row in rows if row.measured and not row.failures]
    counts = [len(row.entry(comparison.primary).samples) for row in sound]
    fewest = min(counts, default=0)
    if not counts or fewest >= FEWEST_ROUNDS:
        return []
    runs = "1 run is" if fewest == 1 else f"{fewest} runs are"
    words = (
        f"{runs} too few for a verdict; the fewest that give one are "
        f"--runs {FEWEST_ROUNDS}"
    )
    needed = [one.runs_needed for one in power(comparison, rows) if one.runs_needed]
    if needed:
        words += (
            f", and about --runs {max(needed)} find a difference of "
            f"{100 * WORTH_FINDING:.0f} %"
        )
    return [Doubt("few_runs", words)]


def _too_short(comparison: Comparison, rows: list[CellSummary]) -> list[Doubt]:
    times = [
        row.entry(record.WALL).median
        for row in rows
        if row.is_reference and row.measured
    ]
    shortest = min((time for time in times if time is not None), default=None)
    if shortest is None or shortest >= SHORTEST_RUN:
        return []
    words = (
        f"the runs take only {shortest * 1e3:.0f} ms, much of it for starting the "
        f"program; give it work for {SHORTEST_RUN * 1e3:.0f} ms or more"
    )
    return [Doubt("too_short", words)]


def _host(comparison: Comparison, rows: list[CellSummary]) -> list[Doubt]:
    return host_doubts(comparison)


def host_doubts(comparison: Comparison) -> list[Doubt]:
    """Return the warnings about the host: load, quota, stolen time and heat."""
    found = []
    stolen = (
        statistics.fmean(run.steal for run in comparison.runs)
        if comparison.runs
        else 0.0
    )
    if stolen > STEAL_SHARE:
        words = (
            f"the hypervisor took {100 * stolen:.0f} % of the CPU time (steal); "
            "repeat it later"
        )
        found.append(Doubt("steal", words))
    throttled = sum(run.throttled for run in comparison.runs)
    quota = comparison.host.get("cpu_quota")
    if throttled:
        words = (
            f"the CPU quota stopped the runs {throttled} times, which affects some "
            "locks more than others; raise the quota or use fewer threads"
        )
        found.append(Doubt("throttled", words))
    elif quota and quota < comparison.host["cpus_allowed"]:
        words = (
            f"the CPU quota is {quota:g} CPUs, but threads run on "
            f"{comparison.host['cpus_allowed']}; the kernel may stop a lock's holder"
        )
        found.append(Doubt("quota", words))
    heated = sum(run.heated for run in comparison.runs)
    if heated:
        words = (
            f"CPUs were throttled {heated} times because they were hot; improve the "
            "cooling, or use fewer threads"
        )
        found.append(Doubt("heat", words))
    used = (
        statistics.fmean(run.other_load for run in comparison.runs)
        if comparison.runs
        else 0.0
    )
    if used > OTHER_SHARE:
        words = (
            f"other programs used {100 * used:.0f} % of the CPU time during the runs; "
            "stop them for a steadier result"
        )
        found.append(Doubt("other_load", words))
    load = comparison.host.get("load_average", 0.0)
    if load > BUSY_LOAD * comparison.cpus and used <= OTHER_SHARE:
        words = (
            f"other programs were using the CPUs (load average {load:.1f} on "
            f"{comparison.cpus:g} CPUs at the start); stop them for a steadier result"
        )
        found.append(Doubt("busy_host", words))
    return found


def _noisy_reference(comparison: Comparison, rows: list[CellSummary]) -> list[Doubt]:
    """A reference that varies so much that ratios to it mean little."""
    struck = []
    for row in rows:
        samples = row.entry(comparison.primary).samples
        if row.is_reference and len(samples) >= 3:
            middle = statistics.median(samples)
            distances = [abs(value - middle) for value in samples]
            spread = statistics.median(distances) / middle if middle else 0.0
            if spread > NOISY_SPREAD:
                struck.append(f"{row.cell.words} lie {100 * spread:.0f} %")
    if not struck:
        return []
    words = (
        f"half the runs of {', '.join(struck)} or more from their median; use more or "
        "longer runs, on a quieter machine if possible"
    )
    return [Doubt("noisy", words)]


def _oversubscribed(comparison: Comparison, rows: list[CellSummary]) -> list[Doubt]:
    """Spinning locks with more threads than CPUs, known or suggested by the result."""
    struck: list[str] = []
    for row in rows:
        if comparison.collapses(row.cell.lock) and row.cell.lock not in struck:
            threads = row.cell.threads
            known = threads is not None and threads > comparison.cpus
            if known or (threads is None and _looks_collapsed(comparison, row)):
                struck.append(row.cell.lock)
    if not struck:
        return []
    words = (
        f"{', '.join(struck)}: waiters only spin, so performance collapses with more "
        f"runnable threads than the {comparison.cpus:g} CPUs, as published"
    )
    return [Doubt("oversubscribed", words)]


def _looks_collapsed(comparison: Comparison, row: CellSummary) -> bool:
    ratio = row.entry(comparison.primary).ratio
    if record.HUNG in row.failures:
        return True
    if ratio is None:
        return False
    worse = (
        ratio.value
        if comparison.primary.lower_is_better
        else 1 / max(ratio.value, 1e-9)
    )
    return worse > COLLAPSED


def _first_run_slow(comparison: Comparison, rows: list[CellSummary]) -> list[Doubt]:
    struck = []
    for row in rows:
        times = row.entry(record.WALL).samples
        if len(times) >= 4 and times[0] > SLOW_FIRST * statistics.median(times[1:]):
            struck.append(row.cell)
    # One slow first run may be chance; in many cells, caches were cold.
    if not struck or len(struck) < len([row for row in rows if row.measured]) / 2:
        return []
    words = f"the first run was slow under {_names(struck)}: use --warmup "
    return [Doubt("first_run_slow", f"{words}{comparison.settings.warmup + 1} or more")]


def _outliers(comparison: Comparison, rows: list[CellSummary]) -> list[Doubt]:
    struck = []
    for row in rows:
        entry = row.entry(comparison.primary)
        places = outliers(entry.samples)
        if places:
            name = _names([row.cell])
            struck.append(f"{name} {len(places)} of {len(entry.samples)}")
    if not struck:
        return []
    words = (
        f"{comparison.primary.name} has outliers, which widen the intervals: "
        f"{', '.join(struck)}; other programs may have interfered"
    )
    return [Doubt("outliers", words)]


def _is_wide(entry: Estimate) -> bool:
    ratio = entry.ratio
    if ratio is None or ratio.low is None or ratio.high is None:
        return False
    return entry.verdict == CANNOT_TELL and ratio.high - ratio.low > WIDE


def _cannot_tell(comparison: Comparison, rows: list[CellSummary]) -> list[Doubt]:
    struck = [row.cell for row in rows if _is_wide(row.entry(comparison.primary))]
    if not struck:
        return []
    words = (
        f"cannot tell {_names(struck)} from {REFERENCE}, because the interval is wide "
        "and includes 1.00; use more or longer runs"
    )
    return [Doubt("cannot_tell", words)]


def _not_positive(comparison: Comparison, rows: list[CellSummary]) -> list[Doubt]:
    """Figures that are zero or negative, whose ratios have no interval."""
    struck = [
        measure.name
        for measure in comparison.judged
        if any(value <= 0 for row in rows for value in row.entry(measure).samples)
    ]
    if not struck:
        return []
    words = (
        f"{', '.join(struck)} has figures that are zero or negative, so its ratios "
        "have no interval and no verdict; choose a figure that is always positive"
    )
    return [Doubt("not_positive", words)]
