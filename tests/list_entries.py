# SPDX-License-Identifier: MIT
"""Shortens the list of locks, for builds that need only some of them."""

from __future__ import annotations

import re

# An entry of locks.def (without the header that it needs): its name, and its text.
ENTRY = re.compile(r'^LOCK\(\w+, "([^"]+)".*?"\)\n', re.MULTILINE | re.DOTALL)


def only(text: str, *names: str) -> str:
    """Return the list without every other lock; the headers stay.

    Raises KeyError if the list lacks one of the names.
    """
    missing = {*names} - {entry[1] for entry in ENTRY.finditer(text)}
    if missing:
        raise KeyError(*missing)
    return ENTRY.sub(lambda entry: entry[0] if entry[1] in names else "", text)
