# SPDX-License-Identifier: MIT
"""Compare two profiles, or two groups of them, site by site.

Several runs on each side are compared by Welch's test. One run on each side is compared
by the noise of counting alone, which is weaker evidence (hasp.statistics.counting). All
tests are corrected together (Holm). Only a change that is significant and large enough
to matter is reported, as in hasp.statistics.contest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hasp.profile.model.profile import Kind, Profile
from hasp.profile.report.figures import rows
from hasp.profile.report.measures import MEASURES, Measure, Sighting
from hasp.statistics import counting
from hasp.statistics.contest import CANNOT_TELL, MATTERS_FROM, SIGNIFICANT_BELOW, holm
from hasp.statistics.counting import Change

MORE, LESS, SAME = "more", "less", "same"
BOTH, NEW, GONE = "both", "new", "gone"
# Sites below this share of the threads' time on both sides are shown but not tested:
# hundreds of irrelevant tests would hide the relevant changes.
TESTED_FROM = 0.001

Key = tuple[str, Kind, int]  # name, kind, and index among sites of that name


@dataclass(frozen=True)
class Result:
    """One measure of one site; p is corrected for the number of tests."""

    measure: Measure
    before: float | None
    after: float | None
    change: Change | None
    p: float | None  # None: not tested
    verdict: str  # more, less, same, cannot tell


@dataclass(frozen=True)
class SiteChange:
    """One site on both sides."""

    name: str
    before_name: str  # differs if line numbers have changed
    kind: Kind
    status: str  # both, new, gone
    share_before: float
    share_after: float
    results: Mapping[str, Result]


@dataclass(frozen=True)
class Difference:
    """The whole comparison; sites by the change of their share of the threads' time."""

    before: Sequence[Profile]
    after: Sequence[Profile]
    sites: Sequence[SiteChange]

    @property
    def single(self) -> bool:
        """Return true if there is only one run on each side."""
        return len(self.before) == 1


def keyed(profile: Profile) -> dict[Key, Sighting]:
    """Return the sites of a run by name; sites of equal names by their shares."""
    found: dict[Key, Sighting] = {}
    for row in rows(profile):
        place = 0
        while (row.name, row.site.kind, place) in found:
            place += 1
        found[row.name, row.site.kind, place] = Sighting(row, profile)
    return found


def moved(
    before: Mapping[Key, Sighting], after: Mapping[Key, Sighting]
) -> dict[Key, Key]:
    """Map keys found only in `after` to the keys in `before` of locks that moved.

    Both must be the only unmatched lock of that expression and file.
    """

    def by_lock(keys: Sequence[Key], seen: Mapping[Key, Sighting]) -> dict[object, Key]:
        groups: dict[object, list[Key]] = {}
        for key in keys:
            site = seen[key].row.site
            if site.expression:
                file = site.place.rpartition(":")[0]
                groups.setdefault((file, site.expression, site.kind), []).append(key)
        return {lock: found[0] for lock, found in groups.items() if len(found) == 1}

    gone = by_lock([key for key in before if key not in after], before)
    new = by_lock([key for key in after if key not in before], after)
    return {new[lock]: gone[lock] for lock in new if lock in gone}


def difference(before: Sequence[Profile], after: Sequence[Profile]) -> Difference:
    """Return the comparison; both sides have one run, or both have several."""
    earlier = [keyed(profile) for profile in before]
    later = [keyed(profile) for profile in after]
    shifted = moved(_union(earlier), _union(later))
    names = {old: new[0] for new, old in shifted.items()}
    later = [
        {shifted.get(key, key): seen for key, seen in run.items()} for run in later
    ]
    keys = list(dict.fromkeys(key for run in (*earlier, *later) for key in run))
    drafts = [
        _draft(key, [run.get(key) for run in earlier], [run.get(key) for run in later])
        for key in keys
    ]
    corrected = _corrected(drafts)
    sites = [
        SiteChange(
            name=names.get(draft.key, draft.key[0]),
            before_name=draft.key[0],
            kind=draft.key[1],
            status=draft.status,
            share_before=draft.shares[0],
            share_after=draft.shares[1],
            results={
                name: _result(draft, name, corrected.get((draft.key, name)))
                for name in MEASURES
            },
        )
        for draft in drafts
    ]
    sites.sort(
        key=lambda site: (
            -abs(site.share_after - site.share_before),
            -max(site.share_after, site.share_before),
        )
    )
    return Difference(before, after, sites)


def _union(runs: Sequence[Mapping[Key, Sighting]]) -> dict[Key, Sighting]:
    return {key: seen for run in reversed(runs) for key, seen in run.items()}


@dataclass(frozen=True)
class _Draft:
    key: Key
    before: Sequence[Sighting | None]
    after: Sequence[Sighting | None]
    shares: tuple[float, float]
    changes: Mapping[str, Change | None]
    status: str


def _draft(
    key: Key, before: Sequence[Sighting | None], after: Sequence[Sighting | None]
) -> _Draft:
    sides = [[one for one in side if one is not None] for side in (before, after)]
    shares = (_mean_share(before), _mean_share(after))
    status = BOTH if all(sides) else NEW if sides[1] else GONE
    changes = {
        name: _change(measure, sides[0], sides[1]) if status == BOTH else None
        for name, measure in MEASURES.items()
    }
    return _Draft(key, before, after, shares, changes, status)


def _mean_share(side: Sequence[Sighting | None]) -> float:
    return sum(one.row.site.share for one in side if one) / len(side)


def _change(
    measure: Measure, before: Sequence[Sighting], after: Sequence[Sighting]
) -> Change | None:
    if len(before) == len(after) == 1:
        return measure.between(before[0], after[0])
    return counting.of_runs(_values(measure, before), _values(measure, after))


def _values(measure: Measure, side: Sequence[Sighting | None]) -> list[float]:
    found = (measure.of(one) for one in side if one is not None)
    return [value for value in found if value is not None]


def _corrected(drafts: Sequence[_Draft]) -> dict[tuple[Key, str], float]:
    tested = [
        (draft.key, name, change.p)
        for draft in drafts
        if max(draft.shares) >= TESTED_FROM
        for name, change in draft.changes.items()
        if change is not None
    ]
    values = holm([p for _, _, p in tested])
    return {(key, name): p for (key, name, _), p in zip(tested, values, strict=True)}


def _result(draft: _Draft, name: str, p: float | None) -> Result:
    measure, change = MEASURES[name], draft.changes[name]
    before, after = (_values(measure, side) for side in (draft.before, draft.after))
    return Result(
        measure,
        sum(before) / len(before) if before else None,
        sum(after) / len(after) if after else None,
        change,
        p,
        verdict(change, p),
    )


def verdict(change: Change | None, p: float | None) -> str:
    """Return the verdict in a word."""
    if change is None or p is None or not math.isfinite(change.ratio):
        return CANNOT_TELL
    low, high = change.low, change.high
    if low is not None and high is not None and _little(low) and _little(high):
        return SAME
    if p >= SIGNIFICANT_BELOW or abs(change.ratio - 1) < MATTERS_FROM:
        return CANNOT_TELL
    return MORE if change.ratio > 1 else LESS


def _little(ratio: float) -> bool:
    return abs(ratio - 1) <= MATTERS_FROM
