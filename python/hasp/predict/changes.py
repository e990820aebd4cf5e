# SPDX-License-Identifier: MIT
"""Changes of a program's critical sections, applied to its load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hasp.base.errors import HaspError
from hasp.predict.load import Load, LoadSite, Role
from hasp.profile.diagnosis.what_if.change import Change, What
from hasp.profile.model.profile import Profile
from hasp.profile.report.what_if import site_of

SPLIT_MOST = 65536


@dataclass(frozen=True)
class SiteChange:
    """A change to the locks of one site, by its number in the profile."""

    site: int
    name: str
    change: Change

    def __hash__(self) -> int:
        return hash((self.site, self.words))

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, SiteChange) and other.site == self.site
        return same and isinstance(other, SiteChange) and other.words == self.words

    @property
    def words(self) -> str:
        """The change without the site, as the user writes it."""
        return self.change.words


def resolved(profile: Profile, changes: Sequence[Change]) -> list[SiteChange]:
    """Return the changes with their sites.

    Raises HaspError for a site that was not recorded, and for a change of the waits,
    which are what the simulation computes.
    """
    found = []
    for one in changes:
        if one.what is What.WAIT:
            raise HaspError(
                f"--what-if '{one.site} {one.words}': waits are the result of the "
                "simulation",
                "change what causes them: hold xFACTOR, outside PERCENT%, split NUMBER "
                "or remove",
            )
        site = site_of(profile, one.site)
        found.append(SiteChange(site.number, site.name, one))
    return found


def applied(load: Load, change: SiteChange) -> Load:
    """Return the load after a change. Raises HaspError if the site is not in it."""
    index = next(
        (i for i, site in enumerate(load.sites) if site.number == change.site), None
    )
    if index is None:
        raise HaspError(
            f"--what-if '{change.name} {change.words}': this lock is held too rarely "
            "to be simulated",
            "change a lock that threads wait for",
        )
    site, what = load.sites[index], change.change
    if what.what is What.HOLD:
        return _held(load, index, what.value)
    if what.what is What.OUTSIDE:
        return _outside(load, index, what.value)
    if what.what is What.SPLIT:
        return _with_site(load, index, _split(site, int(what.value)))
    own = replace(site, each_worker=True, locks=1, weights=(1,), tail=0)
    return _with_site(load, index, own)


def _with_site(load: Load, index: int, site: LoadSite) -> Load:
    sites = list(load.sites)
    sites[index] = site
    return replace(load, sites=tuple(sites))


def _split(site: LoadSite, into: int) -> LoadSite:
    """Return the site with each lock split; all parts are used equally often."""
    locks = min(site.locks * into, SPLIT_MOST)
    if locks > 256 or site.tail:
        return replace(site, locks=locks, weights=(), tail=1)
    return replace(site, locks=locks, weights=site.weights * into)


def _held(load: Load, index: int, factor: float) -> Load:
    roles = tuple(_with_hold(role, index, factor) for role in load.roles)
    site = load.sites[index]
    changed = replace(site, hold_ns=factor * site.hold_ns)
    return _with_site(replace(load, roles=roles), index, changed)


def _with_hold(role: Role, index: int, factor: float) -> Role:
    holds = list(role.holds_ns)
    holds[index] *= factor
    return replace(role, holds_ns=tuple(holds))


def _outside(load: Load, index: int, share: float) -> Load:
    """Return the load with a share of the sections moved after the outermost release.

    It is added to the time between outermost sections, as its mean.
    """
    roles = []
    for role in load.roles:
        moved = share * role.holds_ns[index] * visits_per_section(load, role)[index]
        changed = _with_hold(role, index, 1 - share)
        roles.append(replace(changed, gap_ns=role.gap_ns + moved))
    site = replace(load.sites[index], hold_ns=(1 - share) * load.sites[index].hold_ns)
    return _with_site(replace(load, roles=tuple(roles)), index, site)


def visits_per_section(load: Load, role: Role) -> list[float]:
    """Return how often each site is acquired in one outermost section, itself included.

    The mean over the outermost sections of the role.
    """
    numbers = [0.0] * len(load.sites)
    for at, share in role.visits:
        numbers[at] += share
    for index, site in enumerate(load.sites):
        for inner, times in site.inner:
            numbers[inner] += numbers[index] * times
    return numbers
