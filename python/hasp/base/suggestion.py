# SPDX-License-Identifier: MIT
"""Suggests known words for one that is misspelt."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return "did you mean X or Y? " with the words like `word`, or "" without any."""
    # Imported here because only errors need it.
    import difflib

    near = difflib.get_close_matches(word, list(known), n=3, cutoff=0.5)
    return f"did you mean {' or '.join(near)}? " if near else ""
