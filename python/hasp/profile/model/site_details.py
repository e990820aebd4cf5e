# SPDX-License-Identifier: MIT
"""Add to the sites of a profile what samples and the tables of threads show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from hasp.profile.model.clock import Clock
from hasp.profile.model.executed import Executed
from hasp.profile.model.fairness import Fairness, Stripes
from hasp.profile.model.holder_functions import HolderFunctions
from hasp.profile.model.holder_states import HolderStates
from hasp.profile.model.holding import HolderFunction
from hasp.profile.model.line_neighbours import shared_lines
from hasp.profile.model.lock_sums import Places
from hasp.profile.model.naming import expression_in, name_of
from hasp.profile.model.profile import Kind, Site
from hasp.profile.model.readers_writers import ReadersWriters
from hasp.profile.model.sites import Sites, Stacks
from hasp.profile.model.thread_shares import ThreadShares
from hasp.profile.trace.format import ChunkKind, Records
from hasp.profile.trace.reader import Trace

HELD = (Kind.MUTEX, Kind.RWLOCK, Kind.SPINLOCK)


class SiteDetails:
    """The data of a trace about sites besides their statistics."""

    def __init__(
        self, trace: Trace, sites: Sites, stacks: Stacks, clock: Clock, weights: Records
    ) -> None:
        self._sites = sites
        self._symbolizer = stacks.symbolizer
        self._functions = HolderFunctions(weights, sites, stacks, clock)
        self._states = HolderStates(trace, sites, stacks)
        self._executed = Executed(trace, sites, stacks)
        self._shares = ThreadShares(trace, sites.sums)
        self._lines = shared_lines(sites, self._shares)
        self._contention = trace.all(ChunkKind.CONTENTION)

    def added(self, sites: Iterable[Site]) -> tuple[Site, ...]:
        """Return the sites with the details of their locks."""
        order = np.argsort(self._sites.of, kind="stable")
        numbers = self._sites.of[order]
        found = []
        for site in sites:
            begin, end = np.searchsorted(numbers, [site.number, site.number + 1])
            locks = order[begin:end]
            found.append(self._of(site, locks) if site.kind in HELD else site)
        return tuple(found)

    def _of(self, site: Site, locks: Places) -> Site:
        holders = self._functions.of(site.number)
        holding = self._states.holding(site.number, "waited")
        return replace(
            self._named(site, holders),
            holding=self._executed.added(holding, site.number, holders),
            long_holding=self._states.holding(site.number, "alone"),
            holders=holders,
            fairness=self._fairness(locks),
            readers_writers=self._modes(site, locks),
            stripes=self._stripes(locks),
            shared_lines=self._lines.get(site.number, ()),
        )

    def _named(self, site: Site, holders: Sequence[HolderFunction]) -> Site:
        """Name a site by an acquisition if the line that created it has no lock.

        A function that creates the lock by its last call leaves no frame (a tail call),
        or the source of its creator is not there.
        """
        lines, field = self._symbolizer.lines, self._symbolizer.field
        frame = next(iter(site.created), None)
        if site.expression or not frame or not frame.file or not frame.line:
            return site
        source = "\n".join(lines(frame.file, frame.line))
        if expression_in(source):
            return site
        used = [name_of(one.stack, None, "", lines, field) for one in holders]
        name = min((one for one in used if one.expression), default=None)
        if name is None:
            return site
        return replace(
            site, name=name.whole, place=name.place, expression=name.expression
        )

    def _fairness(self, locks: Places) -> Fairness | None:
        worst = self._sites.sums.worst(locks) if len(locks) else 0
        return self._shares.fairness(worst) if worst else None

    def _stripes(self, locks: Places) -> Stripes | None:
        return self._shares.stripes(locks) if len(locks) else None

    def _modes(self, site: Site, locks: Places) -> ReadersWriters | None:
        records = self._contention
        if site.kind is not Kind.RWLOCK or not len(records):
            return None
        records = records[np.isin(records["lock"], locks)]
        if not len(records):
            return None
        return ReadersWriters(
            readers_for_readers=int(records["reads_for_reads"].sum()),
            readers_for_writer=int(records["reads_for_writes"].sum()),
            writers_for_readers=int(records["writes_for_reads"].sum()),
            writers_for_writer=int(records["writes_for_writes"].sum()),
            unknown=int(records["for_unknown"].sum()),
        )
