# SPDX-License-Identifier: MIT
"""All claims, the claims without an experiment, and the levels to reach."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from hasp.lab.simulate.validation import (
    atomics,
    contention,
    handovers,
    hash_tables,
    latencies,
    messages,
    rcl,
)
from hasp.lab.simulate.validation.claim import ORDERING, PREDICTED, Claim, Verdict


def _of_locks(claims: Iterable[Claim]) -> Iterable[Claim]:
    return (replace(claim, of_locks=True) for claim in claims)


CLAIMS: tuple[Claim, ...] = (
    *latencies.CLAIMS,
    *atomics.CLAIMS,
    *_of_locks(contention.CLAIMS),
    *_of_locks(handovers.CLAIMS),
    *messages.CLAIMS,
    *_of_locks(hash_tables.CLAIMS),
    *_of_locks(rcl.CLAIMS),
)

_SET_UP = "describes how an experiment was set up"
_MEMCACHED = (
    "Memcached over a network: the server's kernel, sockets and memory allocation "
    "are not simulated"
)
_NO_TABLE = "only this one ratio is published for that machine"

# Claims of SSYNC (S14 to S71) and of the lock study that have no experiment here.
OUT_OF_SCOPE = {
    "S26": (
        "the ratio of two ticket locks with back-off, both bistable: 1.6 with 12 "
        "simulated cores, 0.8 with 48"
    ),
    "S45": _SET_UP,
    "S48": _SET_UP,
    "S49, S50 on the Tilera": "its messages use the hardware network",
    "S51": "the Tilera's hardware network is not modelled",
    "S52": "the Tilera's hardware network is not modelled",
    "S55": _SET_UP,
    "S56": _SET_UP,
    "S59, S60 on the Tilera": "its messages use the hardware network",
    "S62": (
        "depends on where Linux puts threads that are not pinned; the simulated "
        "scheduler moves a thread only to an idle CPU"
    ),
    "S64": _MEMCACHED,
    "S65": _MEMCACHED,
    "S66": _MEMCACHED,
    "S67": _MEMCACHED,
    "S68": _MEMCACHED,
    "S69": _SET_UP,
    "S70": _NO_TABLE,
    "S71": _NO_TABLE,
    "T29": "the cost of the study's own table of locks; Hasp has no such table",
    "T46": "needs a whole application, whose threads migrate",
    "T47": "needs a whole application with more threads than cores",
    "fig7c/flat combining": "the lock is not implemented here",
    "fig7c/rcl": "an executor and not a lock: tools/measure_rcl.py tests it",
}


@dataclass(frozen=True)
class Level:
    """The share of a group's claims that must agree."""

    name: str
    must: float
    goal: float
    counts: Callable[[Claim], bool]


def _numeric(claim: Claim) -> bool:
    return claim.kind != ORDERING and claim.group != rcl.GROUP


LEVELS = (
    Level("numeric claims, all kinds", 0.65, 0.80, _numeric),
    Level(
        "numeric claims, predicted",
        0.50,
        0.70,
        lambda claim: _numeric(claim) and claim.kind == PREDICTED,
    ),
    Level("orderings", 0.70, 0.85, lambda claim: claim.kind == ORDERING),
    Level(
        "figure 7c: spinlock, POSIX, MCS",
        4 / 6,
        5 / 6,
        lambda claim: claim.group == rcl.GROUP,
    ),
)


@dataclass(frozen=True)
class Score:
    """The outcome of a level."""

    level: Level
    agree: int
    disagree: int
    ties: int

    @property
    def share(self) -> float:
        """The share of claims that agree, ignoring ties."""
        counted = self.agree + self.disagree
        return self.agree / counted if counted else 0.0

    @property
    def reached(self) -> str:
        """`goal`, `must` or `missed`."""
        if self.share >= self.level.goal - 1e-9:
            return "goal"
        return "must" if self.share >= self.level.must - 1e-9 else "missed"


def scores(verdicts: Sequence[Verdict]) -> list[Score]:
    """The outcomes of all levels."""
    return [score(level, verdicts) for level in LEVELS]


def as_shipped(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Return the verdicts with Hasp's own locks in claims about locks."""
    return [verdict.shipped or verdict for verdict in verdicts]


def score(level: Level, verdicts: Sequence[Verdict]) -> Score:
    """The outcome of a level. Claims without an answer count as disagreeing."""
    own = [verdict for verdict in verdicts if level.counts(verdict.claim)]
    return Score(
        level,
        agree=sum(verdict.agrees is True for verdict in own),
        disagree=sum(verdict.agrees is False for verdict in own),
        ties=sum(verdict.agrees is None for verdict in own),
    )
