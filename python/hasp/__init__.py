# SPDX-License-Identifier: MIT
"""Hasp: run any pthread program under any lock, and compare the locks on it."""

from __future__ import annotations

from functools import cache


@cache
def version() -> str:
    """Return the installed version, on demand because importing its reader is slow."""
    # Imported here because it takes longer to load than most of Hasp.
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed_version

    try:
        return installed_version("hasp")
    except PackageNotFoundError:
        return "0+source"
