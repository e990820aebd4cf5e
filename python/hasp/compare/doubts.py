# SPDX-License-Identifier: MIT
"""Doubts about a study, as values: what is doubtful, and what to do about it.

After hyperfine, where a warning is a value of its own and tells the user what to do.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from hasp.compare import run_record as record
from hasp.compare.noise import OTHER_SHARE
from hasp.compare.settings import Cell
from hasp.compare.store import INTERRUPTED, Study
from hasp.compare.summary import CANNOT_TELL, WORTH_FINDING, Entry, Row, power
from hasp.locks.native import REFERENCE
from hasp.statistics import outliers
from hasp.statistics.simultaneous import FEWEST_ROUNDS

# Starting a program under a lock takes a millisecond or two longer than without; in
# runs of at least this length that is at most 2 %.
SHORTEST_RUN = 0.1  # seconds
WIDE = 0.2  # an interval wider than this share of 1 that includes 1 tells little
SLOW_FIRST = 1.2  # times the median of the others
STEAL_SHARE = 0.01
BUSY_LOAD = 0.5  # runnable others per CPU when the study began
LONGEST_LIST = 5  # names in one sentence
NOISY_SPREAD = 0.1  # median distance of the reference's runs from their median
COLLAPSED = 2.0  # times worse than the reference


@dataclass(frozen=True)
class Doubt:
    """One doubt, in words."""

    kind: str
    words: str


def doubts(study: Study, rows: list[Row]) -> list[Doubt]:
    """Every doubt about a study, the gravest first."""
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
        found += check(study, rows)
    return found


def _names(cells: list[Cell]) -> str:
    names = [cell.words for cell in cells]
    more = len(names) - LONGEST_LIST
    return (
        ", ".join(names) if more <= 1 else f"{', '.join(names[:-more])} and {more} more"
    )


def _interrupted(study: Study, rows: list[Row]) -> list[Doubt]:
    if not study.interrupted:
        return []
    return [Doubt(INTERRUPTED, "interrupted: this is what was measured before")]


def _failing_command(study: Study, rows: list[Row]) -> list[Doubt]:
    """Failures of the reference, which no lock is to blame for."""
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


def _few_runs(study: Study, rows: list[Row]) -> list[Doubt]:
    sound = [row for row in rows if row.measured and not row.failures]
    counts = [len(row.entry(study.primary).samples) for row in sound]
    fewest = min(counts, default=0)
    if not counts or fewest >= FEWEST_ROUNDS:
        return []
    runs = "1 run is" if fewest == 1 else f"{fewest} runs are"
    words = (
        f"{runs} too few for a verdict; the fewest that give one are "
        f"--runs {FEWEST_ROUNDS}"
    )
    needed = [one.runs_needed for one in power(study, rows) if one.runs_needed]
    if needed:
        words += (
            f", and about --runs {max(needed)} find a difference of "
            f"{100 * WORTH_FINDING:.0f} %"
        )
    return [Doubt("few_runs", words)]


def _too_short(study: Study, rows: list[Row]) -> list[Doubt]:
    times = [
        row.entry(record.WALL).median
        for row in rows
        if row.is_reference and row.measured
    ]
    shortest = min((time for time in times if time is not None), default=None)
    if shortest is None or shortest >= SHORTEST_RUN:
        return []
    words = (
        f"the runs take {shortest * 1e3:.0f} ms, too short: starting the program is "
        f"much of it; give it work for {SHORTEST_RUN * 1e3:.0f} ms or more"
    )
    return [Doubt("too_short", words)]


def _host(study: Study, rows: list[Row]) -> list[Doubt]:
    found = []
    stolen = statistics.fmean(run.steal for run in study.runs) if study.runs else 0.0
    if stolen > STEAL_SHARE:
        words = (
            f"the hypervisor took {100 * stolen:.0f} % of the CPU time (steal); "
            "repeat it later"
        )
        found.append(Doubt("steal", words))
    throttled = sum(run.throttled for run in study.runs)
    quota = study.host.get("cpu_quota")
    if throttled:
        words = (
            f"the CPU quota stopped the runs {throttled} times: a lock is then also "
            "measured by how it survives that; raise the quota or use fewer threads"
        )
        found.append(Doubt("throttled", words))
    elif quota and quota < study.host["cpus_allowed"]:
        words = (
            f"a CPU quota of {quota:g} CPUs is below the {study.host['cpus_allowed']} "
            "CPUs that threads run on; a holder may be stopped by it"
        )
        found.append(Doubt("quota", words))
    heated = sum(run.heated for run in study.runs)
    if heated:
        words = (
            f"CPUs were slowed down {heated} times because they were hot; let the "
            "machine cool, or use fewer threads"
        )
        found.append(Doubt("heat", words))
    used = statistics.fmean(run.other_load for run in study.runs) if study.runs else 0.0
    if used > OTHER_SHARE:
        words = (
            f"other programs used {100 * used:.0f} % of the CPU time during the runs; "
            "stop them for a quieter result"
        )
        found.append(Doubt("other_load", words))
    load = study.host.get("load_average", 0.0)
    if load > BUSY_LOAD * study.cpus and used <= OTHER_SHARE:
        words = (
            f"other programs were using the CPUs (load average {load:.1f} on "
            f"{study.cpus:g} CPUs at the start); stop them for a quieter result"
        )
        found.append(Doubt("busy_host", words))
    return found


def _noisy_reference(study: Study, rows: list[Row]) -> list[Doubt]:
    """Whether the reference varies so much that ratios to it mean little."""
    struck = []
    for row in rows:
        samples = row.entry(study.primary).samples
        if row.is_reference and len(samples) >= 3:
            middle = statistics.median(samples)
            distances = [abs(value - middle) for value in samples]
            spread = statistics.median(distances) / middle if middle else 0.0
            if spread > NOISY_SPREAD:
                struck.append(f"{row.cell.words} lie {100 * spread:.0f} %")
    if not struck:
        return []
    words = (
        f"half the runs of {', '.join(struck)} or more off their median: the program "
        "or the machine is unsteady; use more or longer runs"
    )
    return [Doubt("noisy", words)]


def _oversubscribed(study: Study, rows: list[Row]) -> list[Doubt]:
    """Spinning locks where more threads than CPUs run, or seem to by their result."""
    struck: list[str] = []
    for row in rows:
        if study.collapses(row.cell.lock) and row.cell.lock not in struck:
            threads = row.cell.threads
            known = threads is not None and threads > study.cpus
            if known or (threads is None and _looks_collapsed(study, row)):
                struck.append(row.cell.lock)
    if not struck:
        return []
    words = (
        f"{', '.join(struck)}: waiters only spin, so expect collapse when more threads "
        f"than the {study.cpus:g} CPUs are runnable; that is how the lock is published"
    )
    return [Doubt("oversubscribed", words)]


def _looks_collapsed(study: Study, row: Row) -> bool:
    ratio = row.entry(study.primary).ratio
    if record.HUNG in row.failures:
        return True
    if ratio is None:
        return False
    worse = ratio.value if study.primary.lower_is_better else 1 / max(ratio.value, 1e-9)
    return worse > COLLAPSED


def _first_run_slow(study: Study, rows: list[Row]) -> list[Doubt]:
    struck = []
    for row in rows:
        times = row.entry(record.WALL).samples
        if len(times) >= 4 and times[0] > SLOW_FIRST * statistics.median(times[1:]):
            struck.append(row.cell)
    # One slow first run is chance; when many cells have it, something was cold.
    if not struck or len(struck) < len([row for row in rows if row.measured]) / 2:
        return []
    words = f"the first run was slow under {_names(struck)}: use --warmup "
    return [Doubt("first_run_slow", f"{words}{study.plan.warmup + 1} or more")]


def _outliers(study: Study, rows: list[Row]) -> list[Doubt]:
    struck = []
    for row in rows:
        entry = row.entry(study.primary)
        places = outliers(entry.samples)
        if places:
            name = _names([row.cell])
            struck.append(f"{name} {len(places)} of {len(entry.samples)}")
    if not struck:
        return []
    words = (
        f"{study.primary.name} has outliers: {', '.join(struck)}; other programs may "
        "have interfered; they widen the intervals"
    )
    return [Doubt("outliers", words)]


def _is_wide(entry: Entry) -> bool:
    ratio = entry.ratio
    if ratio is None or ratio.low is None or ratio.high is None:
        return False
    return entry.verdict == CANNOT_TELL and ratio.high - ratio.low > WIDE


def _cannot_tell(study: Study, rows: list[Row]) -> list[Doubt]:
    struck = [row.cell for row in rows if _is_wide(row.entry(study.primary))]
    if not struck:
        return []
    words = (
        f"cannot tell {_names(struck)} from {REFERENCE}: the interval is wide and "
        "includes 1.00; use more or longer runs"
    )
    return [Doubt("cannot_tell", words)]


def _not_positive(study: Study, rows: list[Row]) -> list[Doubt]:
    """Figures without a logarithm, which have neither an interval nor a verdict."""
    struck = [
        measure.name
        for measure in study.judged
        if any(value <= 0 for row in rows for value in row.entry(measure).samples)
    ]
    if not struck:
        return []
    words = (
        f"{', '.join(struck)} has figures that are zero or negative, so its ratios "
        "have no interval and no verdict; choose a figure that is always positive"
    )
    return [Doubt("not_positive", words)]
