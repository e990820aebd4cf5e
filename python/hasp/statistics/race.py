# SPDX-License-Identifier: MIT
"""A race: finds the best of many candidates with few runs, and proves it.

Rounds of a few runs follow each other. `kriging` chooses the candidates that could
still be the best; when none is likely to be more than 5 % better than the leader, the
remaining ones run until `sequential` bounds each of them. Every candidate's value is
the mean of its logarithms, so the ratio of two is a geometric mean, as in a comparison.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy

from hasp.statistics.kriging import Posterior, posterior
from hasp.statistics.ratio import Array
from hasp.statistics.sequential import FEWEST_SHARED, Gaps, gaps

TOLERANCE = 0.05  # a candidate is good enough if no other is better by more than this
FIRST_SHARE = 4  # the first round runs one candidate of this many
FIRST_AT_LEAST = 8
BATCH = 6  # runs of a round that searches
PROOF_BATCH = 12  # runs of a round that proves
OPTIMISM = 1.0  # standard deviations above the estimate by which candidates are chosen
PLAUSIBLE = 0.05  # chance to be better by the tolerance that makes one worth a search
CHALLENGE = 0.25  # standard deviations by which a new leader must be ahead
REFERENCE_ROUNDS = 5  # rounds that the reference takes part in, for its own ratio

OUT, WORSE = "out", "worse"


@dataclass(frozen=True)
class Place:
    """A candidate's place in the race; gaps are logarithms, positive if it is ahead."""

    runs: int
    shared: int  # rounds shared with the leader
    gap: float | None  # to the leader
    low: float
    high: float
    dropped: str  # "" while it races, WORSE if it is proven worse, OUT if excluded


class Race:
    """The state of a race of `len(similarity)` candidates."""

    def __init__(
        self,
        similarity: Array,
        *,
        reference: int = 0,
        first: Sequence[int] = (),
        late: Sequence[int] = (),
        tolerance: float = TOLERANCE,
        family: int | None = None,
    ) -> None:
        """`first` run in the first round, `late` only when no other is as promising.

        `family` is the number of candidates besides the best; more than K - 1 if some
        join later.
        """
        self._similarity = numpy.asarray(similarity, dtype=float)
        self.reference = reference
        self._first = list(first)
        self._late = frozenset(late)
        self._margin = math.log1p(tolerance)
        self._rounds: list[Array] = []
        self._dropped: dict[int, str] = {}
        self._last: tuple[int, Gaps] | None = None
        # By whom and with which bounds each candidate was proven worse: those of a
        # moment hold, whatever follows.
        self._beaten: dict[int, tuple[int, float, float]] = {}
        self._family = family or max(1, self.size - 1)
        self._belief: Posterior | None = None
        self.leader: int | None = None
        self.searching = True  # false once no candidate is likely to be much better

    @property
    def size(self) -> int:
        """The number of candidates."""
        return len(self._similarity)

    def join(self, similarity: Array) -> None:
        """Add candidates; `similarity` is that of all, the present ones first."""
        more = len(similarity) - self.size
        self._similarity = numpy.asarray(similarity, dtype=float)
        blank = numpy.full(more, numpy.nan)
        self._rounds = [numpy.concatenate([row, blank]) for row in self._rounds]
        self._judge()

    def record(self, values: Mapping[int, float]) -> None:
        """Add a round: the logarithm of each run, higher is better."""
        row = numpy.full(self.size, numpy.nan)
        for which, value in values.items():
            row[which] = value
        if values:
            self._rounds.append(row)
            self._judge()

    def exclude(self, which: int) -> None:
        """Take a candidate out of the race that failed or breaks a requirement."""
        if self._dropped.get(which) == OUT:
            return
        # Those that it beat are back in the race.
        self._dropped = {one: OUT for one, why in self._dropped.items() if why == OUT}
        self._dropped[which] = OUT
        self._judge()

    @property
    def racing(self) -> list[int]:
        """The candidates that are neither excluded nor proven worse."""
        return [which for which in range(self.size) if which not in self._dropped]

    @property
    def behind_by(self) -> float:
        """The factor by which a candidate may still be better than the leader, minus 1.

        It holds with 95 % confidence: infinite while a candidate lacks shared rounds.
        """
        if self.leader is None or self._last is None:
            return math.inf
        others = [which for which in self.racing if which != self.leader]
        worst = max((float(self._last[1].high[which]) for which in others), default=0.0)
        return math.expm1(max(0.0, worst)) if worst < 700 else math.inf

    @property
    def proven(self) -> bool:
        """Return true if the leader is proven to be within the tolerance."""
        return self.behind_by <= math.expm1(self._margin) + 1e-12

    def places(self) -> list[Place]:
        """Return every candidate's place, in the order of the candidates."""
        counts = self._counts()
        found = []
        for which in range(self.size):
            gap, low, high, shared = None, -math.inf, math.inf, 0
            if self._last is not None:
                known = self._last[1]
                shared = int(known.rounds[which])
                low, high = float(known.low[which]), float(known.high[which])
                if shared:
                    gap = float(known.mean[which])
                by, *bounds = self._beaten.get(which, (None, 0.0, 0.0))
                if by == self.leader and self._dropped.get(which) == WORSE:
                    low, high = bounds
            dropped = self._dropped.get(which, "")
            found.append(Place(int(counts[which]), shared, gap, low, high, dropped))
        return found

    def next_round(self) -> list[int]:
        """Return the candidates to run next; empty if nothing is left to prove.

        That includes the leader's ratio to the reference.
        """
        if self._belief is None or self.leader is None:
            return self._first_round()
        others = [which for which in self.racing if which != self.leader]
        assert self._last is not None
        bounds, belief = self._last[1], self._belief
        unproven = [one for one in others if bounds.high[one] > self._margin]
        if not unproven:
            needed = self._needs_reference(FEWEST_SHARED)
            return [self.leader, self.reference] if needed else []
        chance = belief.probability_above(self.leader, self._margin)
        hope = belief.mean + OPTIMISM * belief.deviation
        counts = self._counts()
        likely = [one for one in unproven if chance[one] > PLAUSIBLE]
        self.searching = bool(likely)

        def is_late(one: int) -> bool:
            return one in self._late and not counts[one]

        if likely:
            chosen = sorted(likely, key=lambda one: (is_late(one), -hope[one]))
            chosen = chosen[: BATCH - 1]
        else:
            chosen = sorted(
                unproven, key=lambda one: (is_late(one), counts[one], -hope[one])
            )
            chosen = chosen[: PROOF_BATCH - 1]
        also = [self.leader, *chosen]
        if self._needs_reference(REFERENCE_ROUNDS):
            also.append(self.reference)
        return list(dict.fromkeys(also))

    def _needs_reference(self, rounds: int) -> bool:
        """Return true if the leader's ratio to the reference rests on fewer rounds.

        A reference that is proven worse than an earlier leader runs again.
        """
        assert self._last is not None
        if self.reference == self.leader or self._dropped.get(self.reference) == OUT:
            return False
        return bool(self._last[1].rounds[self.reference] < rounds)

    def _first_round(self) -> list[int]:
        """Candidates that are as different as possible, those of `first` included."""
        wanted = max(FIRST_AT_LEAST, math.ceil(self.size / FIRST_SHARE))
        chosen = [one for one in self._first if one in self.racing]
        left = [
            one for one in self.racing if one not in chosen and one not in self._late
        ]
        if not left:
            left = [one for one in self.racing if one not in chosen]
        while left and len(chosen) < wanted:
            known = self._similarity[numpy.ix_(chosen, chosen)]
            known = known + 0.05 * numpy.eye(len(chosen))
            link = self._similarity[numpy.ix_(left, chosen)]
            explained = numpy.einsum(
                "ij,ji->i", link, numpy.linalg.solve(known, link.T)
            )
            best = left[int(numpy.argmin(explained))]
            chosen.append(best)
            left.remove(best)
        return chosen

    def _counts(self) -> Array:
        if not self._rounds:
            return numpy.zeros(self.size)
        counts: Array = (~numpy.isnan(numpy.array(self._rounds))).sum(axis=0)
        return counts

    def _judge(self) -> None:
        """Estimate every candidate, choose the leader, and drop who is proven worse."""
        if not self._rounds:
            return
        runs = numpy.array(self._rounds)
        where = numpy.argwhere(~numpy.isnan(runs))
        block, which = where[:, 0], where[:, 1]
        self._belief = posterior(
            self._similarity,
            which.tolist(),
            block.tolist(),
            runs[block, which].tolist(),
        )
        self.leader = self._leader(self._belief)
        if self.leader is None:
            return
        racing = numpy.array([one not in self._dropped for one in range(self.size)])
        self._last = self.leader, gaps(runs, self.leader, racing, self._family)
        for one in self.racing:
            if one != self.leader and self._last[1].high[one] < 0:
                self._dropped[one] = WORSE
                bounds = float(self._last[1].low[one]), float(self._last[1].high[one])
                self._beaten[one] = self.leader, *bounds

    def _leader(self, belief: Posterior) -> int | None:
        counts = self._counts()
        ready = [one for one in self.racing if counts[one]]
        if not ready:
            return None
        score = belief.mean - 0.5 * belief.deviation
        best = max(ready, key=lambda one: score[one])
        present = self.leader
        if present is None or present not in ready or best == present:
            return best
        spread = belief.covariance[best, best] + belief.covariance[present, present]
        spread -= 2 * belief.covariance[best, present]
        ahead = belief.mean[best] - belief.mean[present]
        return best if ahead > CHALLENGE * math.sqrt(max(spread, 0.0)) else present
