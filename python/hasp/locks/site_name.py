# SPDX-License-Identifier: MIT
"""The name of a site, such as "db.c:88 &db->mu"."""

from __future__ import annotations

import re

SITE = re.compile(r"(?P<file>[^:\s]+\.\w+):(?P<line>\d+)(?:\s+(?P<expression>.+))?")


def last_name(expression: str) -> str:
    """Return the object that an expression names: `mu` for `&db->mu[3]`."""
    plain = re.sub(r"\[[^\]]*\]", "", expression)
    names = re.findall(r"[A-Za-z_]\w*", plain)
    return names[-1] if names else ""
