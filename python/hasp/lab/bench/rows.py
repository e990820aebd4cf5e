# SPDX-License-Identifier: MIT
"""Turns samples into rows: figures, ratios with intervals, and outcomes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy

from hasp.lab.bench.cases import (
    BATON,
    BATON_RING,
    FLOOR,
    GLIBC,
    OVERSUBSCRIBED,
    THINK_TIME,
    Case,
)
from hasp.lab.bench.runner import COLLAPSE, OK, OUTCOMES, Sample
from hasp.lab.bench.schedule import Samples, subjects_of
from hasp.statistics import Ratio, ratio_of_medians

WITH_BATON = (OVERSUBSCRIBED, THINK_TIME)
SCHEMA = "hasp.bench.locks/1"

# A lock this many times slower than glibc's has collapsed, even if it makes progress. A
# lock that hands over to sleeping threads in order has not collapsed as long as it
# keeps up with the baton ring, which does the same.
COLLAPSE_FACTOR = 20
BATON_FACTOR = 2
# Marks an operation that never finished: a time longer than any other. hasp.statistics
# treats it as infinite; a real infinity would turn percentiles into NaN.
NEVER = 1e300

Rounds = dict[int, Sample]
Figure = Callable[[Sample], float | None]


@dataclass(frozen=True)
class Row:
    """One case under one lock. A figure that was not measured is None."""

    case: Case
    lock: str
    value: float | None
    ratio: Ratio | None  # to glibc in the same rounds
    extra: Ratio | None  # difference to glibc, in the unit of the case
    fairness: float | None
    fairness_ratio: Ratio | None
    starvation_ms: float | None
    starvation_ratio: Ratio | None
    baton_ratio: Ratio | None  # acquisitions per handover of the baton ring
    runs: int
    outcome: str
    reason: str
    samples: tuple[float | None, ...]

    def record(self) -> dict[str, Any]:
        """Return the row as a JSON object."""
        fields: dict[str, Any] = {
            "schema": SCHEMA,
            "kind": self.case.kind,
            "case": self.case.name,
            "lock": self.lock,
            "threads": self.case.threads,
            **self.case.think_fields(),
            "value": self.value,
            "unit": self.case.unit,
            "better": "lower" if self.case.lower_is_better else "higher",
            **_bounds("ratio", self.ratio, "ratio_to_glibc"),
            **_bounds("extra", self.extra, "extra_to_glibc"),
            "fairness": self.fairness,
            **_bounds("fairness_ratio", self.fairness_ratio),
            "starvation_ms": self.starvation_ms,
            **_bounds("starvation_ratio", self.starvation_ratio),
            **_bounds("ratio_to_baton", self.baton_ratio),
            "runs": self.runs,
            "outcome": self.outcome,
            "reason": self.reason,
            "samples": self.samples,
        }
        optional = ("fairness", "starvation", "ratio_to_baton", "extra")
        always = fields["case"] == OVERSUBSCRIBED
        return {
            name: value
            for name, value in fields.items()
            if value is not None or always or not name.startswith(optional)
        }


def _bounds(name: str, ratio: Ratio | None, value_name: str = "") -> dict[str, Any]:
    return {
        value_name or name: ratio.value if ratio else None,
        f"{name}_low": ratio.low if ratio else None,
        f"{name}_high": ratio.high if ratio else None,
    }


def make_rows(
    samples: Samples,
    cases: Sequence[Case],
    locks: Sequence[str],
    parking_in_order: Collection[str] = (),
) -> list[Row]:
    """Return a row for each case and lock with a sample, in the order of reports.

    `parking_in_order` names the FIFO locks whose waiters sleep.
    """
    batons = {
        case.threads: taken
        for (case, subject), taken in samples.of.items()
        if case.name == BATON_RING and subject == BATON
    }
    return [
        _row(
            case,
            subject,
            samples,
            batons.get(case.threads, {}) if case.name in WITH_BATON else {},
            parking_in_order,
        )
        for case in cases
        for subject in subjects_of(case, locks)
        if samples.of.get((case, subject))
    ]


def _row(
    case: Case,
    subject: str,
    samples: Samples,
    baton: Rounds,
    parking_in_order: Collection[str],
) -> Row:
    taken = samples.of[case, subject]
    glibc = samples.of.get((case, GLIBC), {}) if subject != GLIBC else taken

    def value_of(sample: Sample) -> float:
        if sample.value is not None:
            return sample.value
        return NEVER if case.lower_is_better else 0.0

    value = median(value_of(sample) for sample in taken.values())
    if value >= NEVER / 2 or all(sample.value is None for sample in taken.values()):
        value = math.nan
    ratio = _ratio(taken, glibc, value_of)
    outcome, reason = _outcome(taken)
    baton_ratio = _ratio(taken, baton, value_of)
    if outcome == OK and ratio and subject not in (GLIBC, FLOOR):
        keeps_up = baton_ratio is not None and baton_ratio.value > 1 / BATON_FACTOR
        if not (keeps_up and subject in parking_in_order):
            outcome, reason = _collapse(case, ratio)
    return Row(
        case=case,
        lock=subject,
        value=None if math.isnan(value) else value,
        ratio=ratio,
        extra=_extra(ratio, glibc) if subject != FLOOR else None,
        fairness=_median(taken, lambda sample: sample.fairness),
        fairness_ratio=_ratio(taken, glibc, lambda sample: sample.fairness),
        starvation_ms=_median(taken, lambda sample: sample.starvation_ms),
        starvation_ratio=_ratio(taken, glibc, lambda sample: sample.starvation_ms),
        baton_ratio=baton_ratio,
        runs=len(taken),
        outcome=outcome,
        reason=reason,
        samples=tuple(sample.value for sample in taken.values()),
    )


def _median(taken: Rounds, figure: Figure) -> float | None:
    values = [value for value in map(figure, taken.values()) if value is not None]
    return median(values) if values else None


def _ratio(taken: Rounds, reference: Rounds, figure: Figure) -> Ratio | None:
    """Return the ratio over the rounds in which both have the figure."""
    pairs = [
        (ours, theirs)
        for number in sorted(taken.keys() & reference.keys())
        if (ours := figure(taken[number])) is not None
        and (theirs := figure(reference[number])) is not None
    ]
    if not pairs:
        return None
    ours_all, theirs_all = zip(*pairs, strict=True)
    with numpy.errstate(over="ignore"):  # from NEVER, when a variance is computed
        return ratio_of_medians(ours_all, theirs_all)


def _extra(ratio: Ratio | None, glibc: Rounds) -> Ratio | None:
    """Return the difference to glibc, derived from the ratio and glibc's median."""
    base = _median(glibc, lambda sample: sample.value)
    if ratio is None or base is None:
        return None

    def more(factor: float | None) -> float | None:
        return None if factor is None else (factor - 1) * base

    return Ratio(
        (ratio.value - 1) * base, more(ratio.low), more(ratio.high), ratio.blocks
    )


def _outcome(taken: Rounds) -> tuple[str, str]:
    """Return the worst outcome of the runs, and its reason and frequency."""
    worst = max((sample.outcome for sample in taken.values()), key=OUTCOMES.index)
    if worst == OK:
        return OK, ""
    bad = [sample for sample in taken.values() if sample.outcome == worst]
    reason = Counter(sample.reason for sample in bad).most_common(1)[0][0]
    if len(taken) > 1:
        reason = f"{reason} ({len(bad)} of {len(taken)} runs)"
    return worst, reason


def _collapse(case: Case, ratio: Ratio) -> tuple[str, str]:
    if case.lower_is_better and ratio.value > COLLAPSE_FACTOR:
        return COLLAPSE, f"takes {ratio.value:.0f} times as long as glibc"
    if not case.lower_is_better and ratio.value < 1 / COLLAPSE_FACTOR:
        return COLLAPSE, f"glibc is {1 / ratio.value:.0f} times as fast"
    return OK, ""
