# SPDX-License-Identifier: MIT
"""The critical sections of a recording that can never commit, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from hasp.profile.diagnosis.causes.blocking_section import doing
from hasp.profile.diagnosis.causes.durations import middles
from hasp.profile.diagnosis.causes.facts import Facts, SiteFacts
from hasp.profile.diagnosis.causes.limits import FEW_SAMPLES
from hasp.profile.diagnosis.causes.states import state_of
from hasp.profile.diagnosis.features import Features
from hasp.profile.model.distribution import Distribution
from hasp.profile.model.profile import Kind, Operation, Profile

LEAST = 0.02  # share of hold time in system calls; less may be an error of the sampling
MOSTLY = 0.2  # share of hold time
SHORTEST_CALL = 5e3  # ns, of a system call that sleeps
# Flags of mutexes that are never elided: they have an owner, or are left to glibc.
NEVER = ("recursive", "errorcheck", "shared", "robust", "priority")
# A wait ends one section and begins another, and in a third one, the waiter is woken.
SECTIONS_OF_A_WAIT = 3
CALLS = """
read write readv writev pread pwrite pread64 pwrite64 open openat close fsync fdatasync
lseek stat fstat send sendto sendmsg recv recvfrom recvmsg poll select epoll_wait
epoll_ctl accept connect nanosleep clock_nanosleep usleep sched_yield mmap munmap
mprotect madvise brk fork clone ioctl fcntl unlink rename syscall pthread_create
pthread_join fflush
"""
NAMES = frozenset(CALLS.split())


@dataclass(frozen=True)
class Obstacle:
    """A reason why some sections never commit."""

    kind: str  # kind (of the mutexes), waits, calls
    share: float  # of the sections
    words: str


@dataclass(frozen=True)
class Obstacles:
    """The obstacles to elision of one site's sections."""

    found: tuple[Obstacle, ...] = ()
    inner_tries: float = 0.0  # share of the acquisitions by trylock inside a section

    @property
    def never(self) -> float:
        """The share of the sections that never commit."""
        left = 1.0
        for one in self.found:
            left *= 1 - one.share
        return 1 - left


def obstacles_of(profile: Profile) -> dict[int, Obstacles]:
    """Return the obstacles of every site of mutexes, by its number."""
    tries = _inner_tries(profile)
    return {
        one.site.number: Obstacles(
            tuple(_obstacles(one)), tries.get(one.site.number, 0.0)
        )
        for one in Facts(profile).sites
        if one.site.kind is Kind.MUTEX
    }


def with_transactions(features: Features, profile: Profile) -> Features:
    """Return the measures for a machine with transactions."""
    found = obstacles_of(profile)
    sites = tuple(
        replace(site, never_commits=found[site.site].never)
        if site.site in found
        else site
        for site in features.sites
    )
    return replace(features, sites=sites, transactions=1.0)


def _obstacles(one: SiteFacts) -> Iterator[Obstacle]:
    number = max(one.use.acquisitions, 1)
    owned = sum(
        lock.acquisitions for lock in one.site.locks if not lock.flags.isdisjoint(NEVER)
    )
    if owned:
        kinds = {flag for lock in one.site.locks for flag in lock.flags}
        words = " and ".join(flag for flag in NEVER if flag in kinds)
        yield Obstacle("kind", min(owned / number, 1.0), f"{words} mutexes")
    waits = one.of(Operation.RELOCK).acquisitions
    if waits:
        share = min(SECTIONS_OF_A_WAIT * waits / number, 1.0)
        yield Obstacle("waits", share, "condition waits and wake-ups")
    yield from _calls(one)


def _calls(one: SiteFacts) -> Iterator[Obstacle]:
    state = state_of(one)
    if state.asleep >= LEAST:
        share = sections_with(one.use.hold, state.asleep)
        yield Obstacle("calls", share, f"it {doing(state)}")
    holding = one.site.holding
    if holding is None or holding.running_samples < FEW_SAMPLES:
        return
    found = [f for f in holding.functions if _bare(f.function) in NAMES]
    running = sum(f.share for f in found) * state.running
    if running >= LEAST:
        names = " and ".join(f"{_bare(f.function)}()" for f in found[:2])
        share = sections_with(one.use.hold, running)
        yield Obstacle("calls", share, f"system calls in {names}")


def _bare(function: str) -> str:
    name = function.partition("(")[0].partition("@")[0]
    return name.removeprefix("__GI_").removeprefix("__libc_").lstrip("_")


def sections_with(hold: Distribution, share: float) -> float:
    """Return the share of the sections that contain this share of the hold time.

    It is assumed to be in the longest ones, and in all that are at least half as long
    as the shortest of these; if it is most of the time, in all that are not too short
    for it.
    """
    buckets = list(middles(hold))
    whole = sum(count * middle for count, middle in buckets)
    left, least = share * whole, 0.0
    for count, middle in reversed(buckets):
        if left <= 0:
            break
        left -= count * middle
        least = middle
    least = SHORTEST_CALL if share >= MOSTLY else least / 2
    total = sum(count for count, _ in buckets)
    long = sum(count for count, middle in buckets if middle >= least)
    return long / total if total else share


def _inner_tries(profile: Profile) -> Mapping[int, float]:
    """Return the share of each site's acquisitions by trylock inside another one."""
    tried: dict[int, int] = {}
    for pair in profile.lock_order:
        site = profile.site_of(pair.inner)
        if pair.by_try and site is not None:
            tried[site.number] = tried.get(site.number, 0) + pair.count
    numbers = {site.number: site.total for site in profile.sites}
    return {
        number: min(count / use.acquisitions, 1.0)
        for number, count in tried.items()
        if (use := numbers.get(number)) and use.acquisitions
    }
