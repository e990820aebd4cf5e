# SPDX-License-Identifier: MIT
"""The lock that a profile's verdict names, or that took most of the time."""

from __future__ import annotations

from pathlib import Path

from hasp.base import output
from hasp.base.errors import HaspError
from hasp.locks.site_name import SITE

LEAST_SHARE = 0.01  # of the threads' time, for a lock to be chosen without a verdict
REMEDY = "name the lock: --lock FILE:LINE"


def lock_of_profile(trace: Path | None) -> str:
    """Return the site, "db.c:88 &db->mu", of the lock that a profile's verdict names.

    If it names none, return the mutex that took the largest share of the threads' time,
    and print a note that names it. Raises HaspError if no lock has a source line.
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
        mutexes = [each for each in profile.sites if each.kind is Kind.MUTEX]
        site = max(mutexes, key=lambda each: each.share, default=None)
        if site is None or site.share < LEAST_SHARE:
            raise HaspError(f"the verdict of {trace} names no lock", REMEDY)
        output.note(
            f"the verdict of {trace} names no lock; {site.name} took most of the "
            f"threads' time, {site.share:.0%}"
        )
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
