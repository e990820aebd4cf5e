# SPDX-License-Identifier: MIT
"""A cause of trouble, found by one of the detectors, and its remedy."""

from __future__ import annotations

from dataclasses import dataclass

# Cause -> remedy: what to do about it.
REMEDIES = {
    "stuck": "release",
    "misuse": "fix-misuse",
    "lock-order": "fix-order",
    "blocking-section": "move-blocking-out",
    "allocation": "allocate-outside",
    "nested-locks": "unnest",
    "long-section": "shorten-section",
    "tiny-section": "use-atomic",
    "unfair": "fair-lock",
    "starved-writers": "prefer-writers",
    "blocked-readers": "shorten-writes",
    "herd": "signal-one",
    "needless-waits": "check-first",
    "uneven-stripes": "spread-keys",
    "spinning": "use-mutex",
    "preempted-holder": "fewer-threads",
    "convoy": "unfair-lock",
    "trylock-loop": "block-instead",
    "shared-line": "pad",
    "idle-locks": "fewer-locks",
    "biased": "drop-lock",
    "not-locks": "none",
    "unseen-locks": "other-tool",
}


@dataclass(frozen=True)
class Cause:
    """One cause. The sentence about it is `{subject}: {problem}. {advice}.`"""

    id: str  # a key of REMEDIES
    subject: str  # the lock as the sentence calls it, or "" for the program
    problem: str
    # The remedy in words; shorter forms follow, for sentences that are too long.
    advice: tuple[str, ...]
    # The largest share of the threads' time that the remedy can save; an upper bound.
    saves: float
    evidence: tuple[str, ...] = ()
    site: int | None = None
    holder: str = ""  # the function that acquired the lock, or "" if it is not known
    # True for errors such as deadlocks and misuse, which precede causes that cost time.
    fault: bool = False
    instead: str = ""  # the id of the remedy, if it is not the usual one
    waits: bool = True  # false if it costs time although no thread waits for the lock

    def __post_init__(self) -> None:
        if self.id not in REMEDIES:
            raise ValueError(f"{self.id} is not a cause")

    @property
    def remedy(self) -> str:
        """The id of the remedy."""
        return self.instead or REMEDIES[self.id]
