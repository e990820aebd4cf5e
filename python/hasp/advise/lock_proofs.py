# SPDX-License-Identifier: MIT
"""The proofs that a comparison leaves beside the trace."""

from __future__ import annotations

import platform
from collections.abc import Iterator

from hasp.advise.proof import (
    FAILED,
    NOT_MEASURED,
    Proof,
    RankedLock,
    better,
    samples,
)
from hasp.compare.settings import Cell
from hasp.compare.store import Comparison
from hasp.locks.site_plan.name import is_plan
from hasp.profile.model.proofs import LockProof, Subject
from hasp.statistics.ratio import FEWEST_PAIRS


def lock_proofs(
    comparison: Comparison, proof: Proof, subject: Subject, present: str
) -> list[LockProof]:
    """Return a proof for each lock that was tried with the most threads.

    The ratios are to the present lock, paired by round. There are no proofs of site
    plans: they refer to the sites of this trace, which may change with the next one.
    """
    return list(_proofs(comparison, proof, subject, present))


def _proofs(
    comparison: Comparison, proof: Proof, subject: Subject, present: str
) -> Iterator[LockProof]:
    most = max(comparison.settings.threads, key=lambda count: count or 0)
    for standing in proof.standings:
        cell = standing.cell
        left_out = is_plan(cell.lock) or standing.verdict == NOT_MEASURED
        if left_out or cell.threads != most:
            continue
        yield _proof_of(comparison, standing, Cell(present, most), subject)


def _proof_of(
    comparison: Comparison, standing: RankedLock, present: Cell, subject: Subject
) -> LockProof:
    measure = comparison.primary
    ratio = better(
        samples(comparison, standing.cell),
        samples(comparison, present),
        less_is_better=measure.lower_is_better,
    )
    enough = ratio is not None and ratio.blocks >= FEWEST_PAIRS
    return LockProof(
        lock=standing.cell.lock,
        verdict=standing.verdict,
        ratio=0.0 if ratio is None or standing.verdict == FAILED else ratio.value,
        low=ratio.low if ratio and enough else None,
        high=ratio.high if ratio and enough else None,
        runs=ratio.blocks if ratio else 0,
        metric=measure.name,
        host=platform.node(),
        measured=comparison.started,
        subject=subject,
    )
