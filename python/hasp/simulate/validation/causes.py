# SPDX-License-Identifier: MIT
"""Why the simulator misses what it misses, as far as that is known."""

from __future__ import annotations

# By claim, or by the beginning of its id up to a slash.
CAUSES: dict[str, str] = {}


def cause_of(identity: str) -> str:
    """What is known of the cause; empty if nothing is."""
    while identity:
        if identity in CAUSES:
            return CAUSES[identity]
        identity = identity.rpartition("/")[0]
    return ""
