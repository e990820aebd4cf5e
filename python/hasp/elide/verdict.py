# SPDX-License-Identifier: MIT
"""The prediction in one sentence of at most 160 characters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hasp.elide.answer import (
    ALWAYS,
    GAIN,
    LOSS,
    Data,
    LockAnswer,
    Prediction,
)
from hasp.elide.configurations import CONFIGURATIONS, Configuration
from hasp.predict.answer import Range
from hasp.predict.report import number
from hasp.profile.report.layout import shortened
from hasp.profile.report.words import plural, share

LONGEST = 160
BUSY = 0.2  # share of the time; a lock that is used less limits nothing
NAMES = (60, 40, 28, 20, 12)  # characters of a lock's name, as many as fit


def verdict(prediction: Prediction) -> str:
    """Return the sentence; it says that it is a prediction."""
    if prediction.load is None:
        return (
            "Predicted: elision gains nothing; no mutex is held long or often enough "
            "to matter."
        )
    options = [_sentence(prediction, most) for most in NAMES]
    return next((one for one in options if len(one) <= LONGEST), options[-1])


def best(prediction: Prediction) -> tuple[Configuration, dict[Data, Range]]:
    """Return the best elided configuration, and its ratios by assumption.

    It has the largest sum of its worst and its best ratio; of equals, the one with the
    better worst ratio.
    """
    found: dict[Configuration, dict[Data, Range]] = {}
    for point, ratio in prediction.points.items():
        if point.configuration.elided and point.threads == prediction.most:
            found.setdefault(point.configuration, {})[point.data] = ratio
    order = [one for one in CONFIGURATIONS if one in found]
    chosen = max(order, key=lambda one: _worth(found[one]))
    return chosen, found[chosen]


def _worth(ratios: dict[Data, Range]) -> tuple[float, float]:
    medians = [ratio.median for ratio in ratios.values()]
    return round(max(medians) + min(medians), 2), min(medians)


def kind_of(prediction: Prediction) -> str:
    """Return gains, depends, loses or nothing."""
    if prediction.load is None:
        return "nothing"
    _, ratios = best(prediction)
    lows = [ratio.low for ratio in ratios.values()]
    highs = [ratio.high for ratio in ratios.values()]
    if min(lows) >= GAIN:
        return "gains"
    if max(lows) >= GAIN:
        return "depends"
    return "loses" if max(highs) <= LOSS else "nothing"


def _sentence(prediction: Prediction, most: int) -> str:
    chosen, ratios = best(prediction)
    where = f"{plural(prediction.most, 'thread')} of {prediction.machine}"
    said = f"Predicted for {where}: "
    kind = kind_of(prediction)
    medians = [ratio.median for ratio in ratios.values()]
    low, high = min(medians), max(medians)
    values = span(low, high)
    if kind == "gains":
        return f"{said}{chosen.name} is {values} times as fast{_due(prediction, most)}."
    if kind == "depends":
        return (
            f"{said}{chosen.name} is {number(high)} times as fast if sections touch "
            f"different data, {number(low)} if the same{_due(prediction, most)}."
        )
    why = _why(prediction, most)
    if kind == "loses":
        return f"{said}elision loses ({values} times as fast){why}."
    return f"{said}elision gains nothing ({values} times as fast){why}."


def span(low: float, high: float) -> str:
    """Return `1.20` or `1.20 to 1.50`."""
    one, other = number(low), number(high)
    return one if one == other else f"{one} to {other}"


def _due(prediction: Prediction, most: int) -> str:
    """Return a clause that names the lock that gains most; empty if none gains."""
    gaining = [one for one in prediction.locks if one.judgement in ("gains", "depends")]
    if not gaining:
        return ""
    first = max(gaining, key=lambda one: max(o.saves for o in one.outlooks.values()))
    return f"; due to {shortened(first.name, most)}"


def _why(prediction: Prediction, most: int) -> str:
    """Return a clause with the reason why the lock that limits most gains nothing."""
    waited = sorted(prediction.locks, key=lambda one: one.matters, reverse=True)
    if not waited or waited[0].matters < BUSY:
        return "; threads hardly wait for locks"
    first = waited[0]
    name = shortened(first.name, most)
    if first.obstacles.never >= ALWAYS:
        reason = max(first.obstacles.found, key=lambda one: one.share).words
        return f": {name} never commits ({reason})"
    commits = min((one.committed.median for one in first.outlooks.values()), default=0)
    return f": {name} commits {share(commits, ' ')}"


def reasons(locks: Sequence[LockAnswer]) -> Iterator[str]:
    """Yield a sentence for each lock with sections that never commit."""
    for one in locks:
        for obstacle in one.obstacles.found:
            part = (
                "no section can commit"
                if obstacle.share >= ALWAYS
                else f"{share(obstacle.share, ' ')} of the sections cannot commit"
            )
            yield f"{one.name}: {part}: {obstacle.words}."
        if one.obstacles.inner_tries:
            yield (
                f"{one.name}: {share(one.obstacles.inner_tries, ' ')} of the "
                "acquisitions are a trylock inside another section, which aborts it "
                "unless trylocks nest."
            )
