# SPDX-License-Identifier: MIT
"""Busy locks that share a cache line."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SharedLine:
    """Two locks of several threads that share a cache line."""

    lock: int  # numbers; `lock` belongs to the site
    neighbour: int
    neighbour_site: int  # number, may be the same site
    acquisitions: int  # of the lock
    neighbour_acquisitions: int
