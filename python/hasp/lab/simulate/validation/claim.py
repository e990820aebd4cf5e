# SPDX-License-Identifier: MIT
"""Published claims, and the comparison of a simulated figure with one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hasp.lab.simulate.validation.lab import Lab

TOLERANCE = 0.25  # of a numeric claim
TIE = 0.05  # orderings closer than this are ties, counted separately

# The kinds of evidence; reports always show them separately.
BY_TABLE = "by-table"  # the machine file contains the figure or its components
FITTED = "fitted"  # the claim justifies a constant of the model or the machine file
PREDICTED = "predicted"  # neither of the above
ORDERING = "ordering"  # which of two is larger
KINDS = (BY_TABLE, FITTED, PREDICTED, ORDERING)


@dataclass(frozen=True)
class Measured:
    """The simulated answer to a numeric claim, in the claim's unit."""

    value: float
    low: float = 0.0  # the range over seeds; 0: the value itself
    high: float = 0.0
    words: str = ""

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest and the largest value over the seeds."""
        return self.low or self.value, self.high or self.value


@dataclass(frozen=True)
class Order:
    """Two figures; the first should be at least `factor` times the second."""

    larger: float
    smaller: float
    words: str = ""
    factor: float = 1.0

    @property
    def margin(self) -> float:
        """The share by which the first exceeds that; negative if it does not."""
        wanted = self.smaller * self.factor
        return self.larger / wanted - 1.0 if wanted else float("inf")


@dataclass(frozen=True)
class Claim:
    """A published statement, and the experiment that tests it."""

    id: str
    machine: str
    kind: str
    says: str
    measure: Callable[[Lab], Measured | Order]
    least: float = 0.0  # the published range; an exact figure has least = most
    most: float = 0.0
    unit: str = ""
    loose: bool = False  # the range is generous, so no tolerance is added
    group: str = "SSYNC"
    of_locks: bool = False  # tested with a lock's published form and with Hasp's

    @property
    def paper(self) -> str:
        """The published figure with its unit, or the claim itself if it has none."""
        if self.kind == ORDERING or self.least == self.most == 0:
            return self.says
        if self.least == self.most:
            return f"{figure(self.least)} {self.unit}".strip()
        return f"{figure(self.least)} to {figure(self.most)} {self.unit}".strip()


@dataclass(frozen=True)
class Verdict:
    """A claim and its outcome; `agrees` is None for a tie.

    Claims about locks are tested with the published forms; `shipped` is the outcome
    with Hasp's own locks.
    """

    claim: Claim
    simulated: str
    agrees: bool | None
    why: str
    deviation: float | None = field(default=None)  # a share; numeric claims only
    shipped: Verdict | None = None


def figure(value: float) -> str:
    """The value with four digits and no exponent."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def judge(claim: Claim, answer: Measured | Order) -> Verdict:
    """Return the verdict on a claim, given the simulated answer."""
    if isinstance(answer, Order):
        agrees = None if abs(answer.margin) < TIE else answer.margin > 0
        simulated = f"{figure(answer.larger)} against {figure(answer.smaller)}"
        return Verdict(claim, simulated, agrees, answer.words)
    slack = 0.0 if claim.loose else TOLERANCE
    good = claim.least * (1 - slack) <= answer.value <= claim.most * (1 + slack)
    nearest = min(max(answer.value, claim.least), claim.most)
    low, high = answer.bounds
    simulated = figure(answer.value)
    if high - low > TIE * answer.value:
        simulated += f" ({figure(low)} to {figure(high)})"
    return Verdict(
        claim,
        f"{simulated} {claim.unit}".strip(),
        good,
        answer.words,
        answer.value / nearest - 1.0 if nearest else None,
    )
