# SPDX-License-Identifier: MIT
"""Suggests known words for one that is misspelt."""

from __future__ import annotations

from collections.abc import Iterable

SUGGESTED = 3


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return "did you mean X or Y? " with the words like `word`, or "" without any.

    Names that have `word` as one of their parts come first.
    """
    # Imported here because only errors need them.
    import difflib
    import re

    names = list(known)
    whole = [name for name in names if word in re.split(r"[-+:]", name)]
    near = difflib.get_close_matches(word, whole, n=SUGGESTED, cutoff=0.0)
    near += difflib.get_close_matches(word, names, n=SUGGESTED, cutoff=0.5)
    near = list(dict.fromkeys(near))[:SUGGESTED]
    return f"did you mean {' or '.join(near)}? " if near else ""
