# SPDX-License-Identifier: MIT
"""Build a profile from a trace."""

from __future__ import annotations

import re
from dataclasses import replace
from glob import escape as glob_escape
from pathlib import Path
from typing import Any

import numpy as np

from hasp.base.errors import HaspError
from hasp.profile.model import counter, proofs
from hasp.profile.model.algorithms import other_locks
from hasp.profile.model.clock import Clock, clock_of
from hasp.profile.model.delegate_names import name_of_delegate
from hasp.profile.model.delegation import Delegation, delegation_of
from hasp.profile.model.elision import transactions_of
from hasp.profile.model.doubts import doubts_of, unseen_doubt
from hasp.profile.model.executed import functions_absent
from hasp.profile.model.foreign_waits import foreign_absent, foreign_waits
from hasp.profile.model.held_locks import held_at_end
from hasp.profile.model.holder_states import holding_absent
from hasp.profile.model.lifetime import lifetime_of
from hasp.profile.model.line_neighbours import NO_COUNTERS
from hasp.profile.model.lock_sums import LockSums
from hasp.profile.model.neighbour import Neighbour
from hasp.profile.model.profile import Event, Profile
from hasp.profile.model.order import cycles
from hasp.profile.model.overhead import overhead_of
from hasp.profile.model.pending import pending_doubt, pending_of
from hasp.profile.model.records import Converter
from hasp.profile.model.runtimes import runtimes_of
from hasp.profile.model.site_details import SiteDetails
from hasp.profile.model.sites import Sites, Stacks
from hasp.profile.model.site_stats import StatsReader
from hasp.profile.symbols import cache
from hasp.profile.symbols.modules import modules_of
from hasp.profile.symbols.symbolizer import Symbolizer
from hasp.profile.trace.format import (ChunkKind, End, LockFlag, LockKind, Mode, Operation, Records)
from hasp.profile.trace.reader import Trace, path_text, text

ACQUIRING = (Operation.LOCK, Operation.READ, Operation.WRITE)
WAITS = ("unseen_wait_ticks", "wait_ticks")
ENDED = (End.EXITED, End.REPLACED)
INVERSION = "order-inversion"
READERS = "reader-inversion"  # readers that queue behind waiting writers
MORE_CYCLES = "there are more lock-order inversions than are listed"


def load(path: Path) -> Profile:
    """Return the profile of a trace; for a running program, its current state."""
    trace = Trace(path)
    return profile_of(trace, symbolizer_of(trace))


def load_keeping_symbols(path: Path) -> Profile:
    """Return the profile, and write the symbols file beside the trace.

    With that file the trace can be read on another machine. If it cannot be written,
    the profile has a warning.
    """
    trace = Trace(path)
    symbolizer = symbolizer_of(trace)
    profile = profile_of(trace, symbolizer)  # resolves the names of all sites
    stacks = Stacks(trace, symbolizer)
    for number in range(1, len(stacks.records)):
        symbolizer.stack(stacks.addresses(number))
    try:
        cache.write(trace, symbolizer)
    except OSError as problem:
        doubt = f"{cache.path_of(path)} cannot be written: {problem.strerror}"
        return replace(profile, warnings=(*profile.warnings, doubt))
    return profile


def site_names(
    trace: Trace, symbolizer: Symbolizer
) -> dict[tuple[LockKind, int], str]:
    """Return only the site names, keyed by kind and by the number of the origin's stack."""
    pending = pending_of(trace)
    sums = LockSums(trace, clock_of(trace.header, []), pending)
    return Sites(trace, sums, Stacks(trace, symbolizer), pending).names()


def symbolizer_of(trace: Trace) -> Symbolizer:
    """Return a symbolizer for the trace's addresses."""
    began = int(trace.header["begin"]["wall_ns"]) / 1e9
    found = Symbolizer(modules_of(trace.all(ChunkKind.MODULES)), began)
    cache.read(trace, found)
    return found


def _algorithms(header: np.void) -> dict[str, Any]:
    return {
        "lock": text(header["lock"]),
        "transactions": transactions_of(int(header["transactions"])),
        "other_locks": other_locks(header),
    }


def profile_of(trace: Trace, symbolizer: Symbolizer) -> Profile:
    """Build the profile of a trace."""
    header = trace.header
    doubts = list(doubts_of(header))
    clock = clock_of(header, doubts)
    stacks = Stacks(trace, symbolizer)
    pending = pending_of(trace)
    sums = LockSums(trace, clock, pending)
    sites = Sites(trace, sums, stacks, pending)
    convert = Converter(clock, stacks)
    threads = pending.threads
    lifetime = lifetime_of(threads, int(header["latest"]["ticks"]))
    stats = np.concatenate([trace.all(ChunkKind.SITE_STATS), pending.stats])
    stats = stats[np.isin(stats["operation"], ACQUIRING)]
    stats_reader = StatsReader(clock, int(header["version"]))
    unseen, waited = (clock.ns(stats[name].sum(dtype=float)) for name in WAITS)
    doubts += unseen_doubt(unseen, waited, clock.ns(lifetime))
    doubts += pending_doubt(
        clock.ns(pending.wait_ticks), clock.ns(pending.hold_ticks), clock.ns(lifetime)
    )
    pairs, events = trace.all(ChunkKind.LOCK_ORDER), trace.all(ChunkKind.EVENTS)
    weights = np.concatenate([trace.all(ChunkKind.STACK_PROFILE), pending.weights])
    details = SiteDetails(trace, sites, stacks, clock, weights)
    found = Profile(
        command=_arguments(header["command"]),
        executable=text(header["executable"]),
        pid=int(header["pid"]),
        **_algorithms(header),
        mode="sampled" if header["mode"] == Mode.SAMPLED else "full",
        cpus=int(header["cpus"]),
        nodes=int(header["nodes"]),
        duration_ns=clock.duration_ns,
        began=int(header["begin"]["wall_ns"]) / 1e9,
        ended=header["ended"] in ENDED,
        section_share=_section_share(threads, lifetime),
        threads=convert.threads(threads, trace.all(ChunkKind.BETWEEN)),
        sites=details.added(sites.built(stats_reader, clock.ns(lifetime))),
        lock_order=convert.lock_order(pairs),
        events=(
            *convert.events(events),
            *_inversions(pairs, sites, stacks, doubts),
        ),
        weights=convert.weights(weights),
        waiters=convert.waiters(trace.all(ChunkKind.WAITER_SAMPLES)),
        process_samples=convert.process_samples(trace.all(ChunkKind.PROCESS_SAMPLES)),
        overhead=overhead_of(header, threads, clock.ns_per_tick, clock.ns(lifetime)),
        locks_created=int(header["locks_created"]),
        locks_destroyed=int(header["locks_destroyed"]),
        warnings=(),
        others=_others(trace),
        lock_sites=sites.of.tolist(),
        delegation=_delegation(trace, clock, stacks),
    )
    found = _with_proofs(found, trace, doubts)
    return replace(
        _with_samples(found, trace, stacks),
        held_at_end=held_at_end(trace, threads, clock, stacks),
        warnings=tuple(dict.fromkeys((*trace.doubts, *doubts, *symbolizer.doubts))),
        damaged=bool(trace.doubts),
    )


def _delegation(trace: Trace, clock: Clock, stacks: Stacks) -> Delegation:
    delegates = trace.numbered(ChunkKind.DELEGATES)
    servers = trace.numbered(ChunkKind.SERVERS)
    return delegation_of(
        delegates, servers, clock, lambda record: name_of_delegate(record, stacks)
    )


def _section_share(threads: Records, lifetime: float) -> float:
    """Return the share of the threads' time in critical sections."""
    sections = threads["section_ticks"].sum(dtype=float)
    return min(float(sections) / lifetime, 1.0) if lifetime else 0.0


def _skipped_ns(header: np.void) -> int | None:
    return int(header["skipped_ns"]) if header["windowed"] else None


def _neighbour(header: np.void) -> Neighbour | None:
    name = text(header["neighbour"])
    return Neighbour(name, int(header["neighbour_percent"]) / 100) if name else None


def _with_samples(profile: Profile, trace: Trace, stacks: Stacks) -> Profile:
    """Add the sampler's data on the threads, or the reason why there is none."""
    header = trace.header
    modules = stacks.symbolizer.modules.modules
    return replace(
        profile,
        skipped_ns=_skipped_ns(header),
        neighbour=_neighbour(header),
        processor=text(header["processor"]),
        samples=int(header["samples"]),
        counter=counter.counted(header),
        counter_absent=counter.absent(header),
        holding_absent=holding_absent(header),
        functions_absent=functions_absent(header),
        foreign_absent=foreign_absent(header),
        data_lines_absent=NO_COUNTERS,
        foreign=foreign_waits(trace, stacks),
        unseen_runtimes=runtimes_of(modules, path_text(header["executable"])),
    )


def _build_id(trace: Trace) -> str:
    """Return the build id of the executable; "" if it is not known."""
    executable = text(trace.header["executable"])
    modules = modules_of(trace.all(ChunkKind.MODULES)).modules
    return next((one.build_id for one in modules if one.path == executable), "")


def _with_proofs(profile: Profile, trace: Trace, doubts: list[str]) -> Profile:
    """Return the profile with its build id and the proofs that hold for it."""
    profile = replace(profile, build_id=_build_id(trace))
    try:
        held, stale = proofs.valid(proofs.read(trace.path), profile.subject)
    except HaspError as problem:
        doubts.append(f"no proofs are used: {problem.message}")
        return profile
    return replace(profile, proofs=held, stale_proofs=stale)


def _inversions(
    pairs: Records, sites: Sites, stacks: Stacks, doubts: list[str]
) -> list[Event]:
    """Return one event for each pair of sites whose locks are acquired in both orders."""

    def of(lock: int) -> int:
        return int(sites.of[lock])

    found, all_of_them = cycles(pairs, len(sites.of), of)
    kinds = dict.fromkeys(found, INVERSION)
    writers_first = sites.sums.records["flags"] & LockFlag.WRITERS_FIRST != 0
    if writers_first.any():
        more, all_of_these = cycles(pairs, len(sites.of), of, writers_first)
        all_of_them = all_of_them and all_of_these
        known = {frozenset(cycle) for cycle in found}
        kinds |= {c: READERS for c in more if frozenset(c) not in known}
    if not all_of_them:
        doubts.append(MORE_CYCLES)
    events = []
    for cycle, kind in kinds.items():
        first = pairs[cycle[0]]
        events.append(
            Event(
                kind=kind,
                thread=int(first["thread"]),
                lock=int(first["outer"]),
                other=int(first["inner"]),
                count=int(min(pairs[index]["count"] for index in cycle)),
                at_ns=0,
                stack=stacks[int(first["stack"])],
            )
        )
    return events


def _arguments(raw: np.void) -> tuple[str, ...]:
    """Return the command line: zero-terminated arguments, the last possibly cut."""
    return tuple(text(word) for word in raw.tobytes().rstrip(b"\0").split(b"\0"))


def _others(trace: Trace) -> tuple[str, ...]:
    """Return the traces of the same `hasp profile` run in this folder."""
    stem = re.sub(r"\.\d+$", "", trace.path.name)
    number = re.compile(rf"{re.escape(stem)}(\.\d+)?")
    found = []
    for path in trace.path.parent.glob(f"{glob_escape(stem)}*"):
        if not number.fullmatch(path.name) or path.name == trace.path.name:
            continue
        try:
            header = Trace(path).header
        except HaspError:
            continue
        if header["session"] == trace.header["session"]:
            found.append((int(header["begin"]["monotonic_ns"]), str(path)))
    return tuple(path for _, path in sorted(found))
