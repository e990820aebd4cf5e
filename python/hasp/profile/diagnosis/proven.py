# SPDX-License-Identifier: MIT
"""Applies the proofs beside a trace to the recommended algorithms."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hasp.profile.diagnosis.words import lock_words
from hasp.profile.model.proofs import LockProof

BEST = "best"
# the part of an advice that names a lock: ", such as hasp run --lock u-scl"
COMMAND = re.compile(r"(?:, such as|:) hasp run --lock (\S+)")
REFUTED = ("behind", "harmful", "failed")


@dataclass(frozen=True)
class Proven:
    """The proofs that are valid for a profile."""

    proofs: Sequence[LockProof] = ()

    @property
    def winner(self) -> LockProof | None:
        """The fastest mutex, if it is proven faster than the present one; else None."""
        sure = [one for one in self.proofs if one.low is not None and one.low > 1]
        best = [one for one in sure if one.verdict == BEST and ":" not in one.lock]
        return max(best, key=lambda one: one.ratio, default=None)

    def refutes(self, lock: str) -> bool:
        """Return true if the lock is proven slower than another, or measured no faster.

        A lock whose interval includes 1 is not worth a change if its median is below.
        """
        return any(
            one.verdict in REFUTED or (one.low is not None and one.ratio < 1)
            for one in self.proofs
            if one.lock == lock
        )

    def ranked(self, names: Sequence[str]) -> list[str]:
        """The algorithms without those that are refuted, a proven winner first."""
        first = [self.winner.lock] if self.winner else []
        left = [name for name in names if not self.refutes(name)]
        return list(dict.fromkeys([*first, *left]))

    def keeps(self, lock: str, recommended: str | None) -> str:
        """Return why a proof keeps the present algorithm; "" if none does.

        `recommended` is the answer of the rules alone.
        """
        refuted = [one for one in self.proofs if one.lock == recommended]
        if not refuted or not self.refutes(recommended or ""):
            return ""
        one = refuted[-1]
        present = lock_words(lock)
        return (
            f"measured: under {one.lock} it was {one.words} as fast as under {present}"
        )

    def heeded(self, advice: Sequence[str]) -> tuple[str, ...]:
        """The forms of an advice without the command of a refuted lock."""
        return tuple(
            dict.fromkeys(
                text.replace(found[0], "")
                if (found := COMMAND.search(text)) and self.refutes(found[1])
                else text
                for text in advice
            )
        )

    @property
    def evidence(self) -> tuple[str, ...]:
        """A line about the proven winner; () if there is none."""
        won = self.winner
        return (f"measured: under {won.lock} it is {won.words} as fast",) if won else ()


NOTHING = Proven()
