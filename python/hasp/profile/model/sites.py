# SPDX-License-Identifier: MIT
"""Sites: the locks of a trace, grouped by the source location that created them.

The recorder distinguishes origins by whole stacks. Origins whose locations have the
same name form one site, whatever the caller.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hasp.locks.site_plan.model import MAX_FRAMES
from hasp.profile.model.lock_sums import KINDS, LockSums, Places
from hasp.profile.model.naming import Name, name_of
from hasp.profile.model.pending import Pending
from hasp.profile.model.profile import Kind, Origin, Site, Spot
from hasp.profile.model.site_stats import HOLDING, StatsReader, ThreadStats
from hasp.profile.symbols.frame import Stack
from hasp.profile.symbols.symbolizer import Datum, Symbolizer
from hasp.profile.trace.format import ChunkKind, LockKind, Records
from hasp.profile.trace.reader import Trace

HASP = "libhasp"  # prefix of Hasp's own libraries
KIND_BITS = 8  # An origin's key is its stack's number followed by its kind.


@dataclass
class Draft:
    """A site under construction."""

    kind: Kind
    name: Name
    created: Stack
    first: Stack
    locks: list[Places] = field(default_factory=list)
    keys: list[int] = field(default_factory=list)  # keys of its origins
    origins: list[Origin] = field(default_factory=list)


class Stacks:
    """The stacks of a trace by number, symbolized on access."""

    def __init__(self, trace: Trace, symbolizer: Symbolizer) -> None:
        self.records = trace.numbered(ChunkKind.STACKS)
        self.symbolizer = symbolizer
        self._known: dict[int, Stack] = {0: ()}

    def addresses(self, number: int) -> list[int]:
        """Return the return addresses of a stack."""
        if not 0 < number < len(self.records):
            return []
        record = self.records[number]
        frames: list[int] = record["frame"][: int(record["depth"])].tolist()
        return frames

    def __getitem__(self, number: int) -> Stack:
        if number not in self._known:
            self._known[number] = self.symbolizer.stack(self.addresses(number))
        return self._known[number]


class Sites:
    """All sites of a trace. `of` maps lock numbers to site numbers, 0 for none."""

    def __init__(
        self, trace: Trace, sums: LockSums, stacks: Stacks, pending: Pending
    ) -> None:
        self.sums = sums
        self.stacks = stacks
        self._stats = np.concatenate([trace.all(ChunkKind.SITE_STATS), pending.stats])
        self._drafts = self._merge()
        self.of = np.zeros(len(sums.records), np.uint32)
        for number, draft in enumerate(self._drafts, 1):
            for locks in draft.locks:
                self.of[locks] = number

    def _origins(self) -> Iterator[tuple[int, Places]]:
        """Yield each origin's key and locks; an origin may have uses only."""
        numbers = np.flatnonzero(self.sums.known)
        keys = _keys(self.sums.records[numbers], "kind")
        order = np.argsort(keys, kind="stable")
        found, begins = np.unique(keys[order], return_index=True)
        parts = np.split(numbers[order], begins[1:])
        yield from zip(found.tolist(), parts, strict=bool(len(found)))
        stats = self._stats[
            np.isin(self._stats["lock_kind"], [int(k) for k in LockKind])
        ]
        for key in np.setdiff1d(_keys(stats, "lock_kind"), found).tolist():
            yield key, np.zeros(0, np.intp)

    def _merge(self) -> list[Draft]:
        drafts: dict[tuple[Kind, str], Draft] = {}
        for key, locks in self._origins():
            made = self._draft(key, locks)
            draft = drafts.setdefault((made.kind, made.name.whole), made)
            draft.locks.append(locks)
            draft.keys.append(key)
            draft.origins += [o for o in made.origins if o not in draft.origins]
            draft.created = draft.created or made.created
            draft.first = draft.first or made.first
        return list(drafts.values())

    def _draft(self, key: int, locks: Places) -> Draft:
        kind = KINDS[LockKind(key & (1 << KIND_BITS) - 1)]
        created = first = 0
        datum = None
        if len(locks):
            records = self.sums.records[locks]
            created = int(
                records["created_stack"][records["created_stack"] > 0][:1].sum()
            )
            first = int(records["first_stack"][records["first_stack"] > 0][:1].sum())
            datum = self._datum(records)
        standing = created or first or key >> KIND_BITS
        stack = self.stacks[standing]
        symbol = datum.symbol if datum else None
        home = datum.module.name if datum else ""
        symbolizer = self.stacks.symbolizer
        name = name_of(stack, symbol, home, symbolizer.lines, symbolizer.field)
        draft = Draft(kind, name, self.stacks[created], self.stacks[first])
        origin = self._origin(stack, name, datum, len(locks))
        if origin:
            draft.origins.append(origin)
        return draft

    def _datum(self, locks: Records) -> Datum | None:
        """Return the global object that contains all these locks, or None."""
        address = locks["address"]
        low, high = int(address.min()), int(address.max())
        symbolizer = self.stacks.symbolizer
        datum, last = symbolizer.datum(low), symbolizer.datum(high)
        same = (
            datum
            and last
            and (datum.module, datum.symbol) == (*(last.module, last.symbol),)
        )
        return datum if same else None

    def _origin(
        self, stack: Stack, name: Name, datum: Datum | None, locks: int
    ) -> Origin | None:
        """Return the origin that a plan compares.

        Long stacks are not truncated: the inner frames of a wrapper would match other
        locks too.
        """
        address = None
        if datum and locks == 1:
            module = datum.module
            address = Spot(module.name, module.build_id, datum.address_offset)
        spots: list[Spot] = []
        for frame in stack[: name.depth + 1]:
            found = self.stacks.symbolizer.modules.find(frame.address)
            if found is None:
                spots = []  # JIT code is at another address in the next run
                break
            if not found.name.startswith(HASP):
                spots.append(Spot(found.name, found.build_id, frame.offset))
        frames = tuple(dict.fromkeys(spots))  # inlined calls at one address count once
        if len(frames) > MAX_FRAMES:
            frames = ()
        return Origin(frames, address) if frames or address else None

    def names(self) -> dict[tuple[LockKind, int], str]:
        """Return the name of each origin by kind and stack number."""
        return {
            (LockKind(key & (1 << KIND_BITS) - 1), key >> KIND_BITS): draft.name.whole
            for draft in self._drafts
            for key in draft.keys
        }

    def built(self, reader: StatsReader, lifetime_ns: int) -> list[Site]:
        """Return the sites by share, descending."""
        stats = _keys(self._stats, "lock_kind")
        order = np.argsort(stats, kind="stable")
        ordered, keys = self._stats[order], stats[order]
        found = []
        for number, draft in enumerate(self._drafts, 1):
            parts = [
                ordered[
                    np.searchsorted(keys, key) : np.searchsorted(keys, key, "right")
                ]
                for key in draft.keys
            ]
            found.append(
                self._site(number, draft, np.concatenate(parts), reader, lifetime_ns)
            )
        return sorted(found, key=lambda site: (-site.share, site.number))

    def _site(
        self,
        number: int,
        draft: Draft,
        records: Records,
        reader: StatsReader,
        lifetime: int,
    ) -> Site:
        stats = reader.by_operation(records)
        spent = sum(
            use.wait.total_ns + use.hold.total_ns
            for operation, use in stats.items()
            if operation in HOLDING
        )
        locks = np.concatenate(draft.locks)
        waiters = self.sums.waiters
        return Site(
            number=number,
            kind=draft.kind,
            name=draft.name.whole,
            place=draft.name.place,
            expression=draft.name.expression,
            created=draft.created,
            first=draft.first,
            locks=self.sums.worst_first(locks),
            stats=stats,
            threads=ThreadStats(reader, records),
            share=min(spent / lifetime, 1.0) if lifetime else 0.0,
            waiters_mean=float(waiters.mean[locks].max(initial=0)) if waiters else None,
            waiters_p95=float(waiters.high[locks].max(initial=0)) if waiters else None,
            waiters_max=int(waiters.most[locks].max(initial=0)) if waiters else None,
            origins=tuple(draft.origins),
        )


def _keys(records: Records, kind: str) -> NDArray[np.int64]:
    site: NDArray[np.int64] = records["site"].astype(np.int64)
    return (site << KIND_BITS) | records[kind].astype(np.int64)
