# SPDX-License-Identifier: MIT
"""The lock that a profile's verdict names."""

from __future__ import annotations

from pathlib import Path

from hasp.base.errors import HaspError
from hasp.locks.site_name import SITE

REMEDY = "name the lock: --lock FILE:LINE"


def lock_of_profile(trace: Path | None) -> str:
    """Return the site, "db.c:88 &db->mu", of the lock that a profile's verdict names.

    Raises HaspError if the profile names none, or none with a source line.
    """
    if trace is None:
        raise HaspError(
            "no lock is named", "name one: --lock FILE:LINE, or --from hasp.trace"
        )
    # Imported here because it takes 0.3 s.
    from hasp.profile.diagnosis.diagnose import diagnose
    from hasp.profile.model.kinds import Kind
    from hasp.profile.report.headline import is_empty
    from hasp.profile.report.source import open_profile

    profile = open_profile(trace)
    if is_empty(profile):
        raise HaspError(f"{trace} shows no lock", REMEDY)
    lead = diagnose(profile).lead
    site = next((each for each in profile.sites if each.number == lead.site), None)
    if site is None:
        raise HaspError(f"the verdict of {trace} names no lock", REMEDY)
    if site.kind is not Kind.MUTEX:
        raise HaspError(
            f"the verdict of {trace} names {site.name}, which is not a mutex",
            "only mutexes can be delegated; name one: --lock FILE:LINE",
        )
    if not SITE.fullmatch(site.name):
        raise HaspError(
            f"{trace} has no source line for {site.name}",
            "compile the program with -g and profile it again, or name the lock: "
            "--lock FILE:LINE",
        )
    return site.name
