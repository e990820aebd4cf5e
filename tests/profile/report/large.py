# SPDX-License-Identifier: MIT
"""Makes a profile with everything that a page can show, and a very large one."""

from __future__ import annotations

from dataclasses import replace

import numpy
import profile_samples as samples
from profile_samples import SECOND, Profile, site, stack, use

from hasp.profile.model.profile import (
    Event,
    Kind,
    Operation,
    OrderedPair,
    WaiterSample,
    Weight,
)


def everything() -> Profile:
    """Return hot locks, a name like markup, an inversion, idle time and stacks."""
    base = samples.hot_lock()
    odd = site(7, "x.cc:7 </script><b>odd", use(1000, 40, 9000, 700), 0.01)
    wake = next(one for one in samples.readers().sites if one.kind is Kind.CONDITION)
    wake = replace(wake, number=8, locks=())
    table = site(
        *(9, "table.c:31 &bucket->lock", use(300_000, 4000, 7000, 900), 0.05),
        instances=64,
        waiters=(0.4, 1.0, 2),
    )
    sites = [*base.sites, odd, table, wake]
    numbers = [one.locks[0].number for one in sites if one.locks]
    hot, log, pool, odd_lock, bucket = numbers
    source = numpy.random.default_rng(5)
    weights = []
    for index in range(60):
        depth = int(source.integers(1, 6))
        calls = [f"part_{int(source.integers(4))}_{n} a.c:{n}" for n in range(depth)]
        lock = (hot, hot, bucket)[index % 3]
        wait, hold = (int(value) for value in source.integers(1, 2 * SECOND, 2))
        called = stack(*calls, "work server.c:70", "main server.c:9")
        weights.append(Weight(lock, called, 10, wait, 20, hold))
    ms = 1_000_000
    waiting = [
        WaiterSample(at * 10 * ms, hot, 1 + (at // 40) % 3, 2 + (at // 25) % 4, 1)
        for at in range(1000)
        if at % 200 < 150
    ] + [WaiterSample(at * 10 * ms, bucket, 1, 3, 1) for at in range(300, 420)]
    forth, back = stack("pay bank.c:31"), stack("refund bank.c:44")
    pairs = (
        OrderedPair(hot, log, 500, False, forth),
        OrderedPair(log, hot, 3, False, back),
        OrderedPair(hot, pool, 90, False, forth),
        OrderedPair(pool, odd_lock, 5, False, forth),
        OrderedPair(hot, bucket, 7, True, forth),
    )
    events = (
        Event("order-inversion", 2, hot, log, 3, SECOND, forth),
        Event("foreign-unlock", 3, pool, 2, 4, 2 * SECOND, back),
    )
    return replace(
        base,
        sites=tuple(sites),
        weights=tuple(weights),
        waiters=tuple(sorted(waiting, key=lambda one: one.at_ns)),
        lock_order=pairs,
        events=events,
        warnings=("12 stacks were lost",),
    )


def ten_thousand_sites() -> Profile:
    """Return as many sites as a large program has, with locks, edges and stacks."""
    one = site(1, "a.c:1 x", use(5000, 200, 3000, 500), 0.1, instances=3)
    lock = one.locks[0]
    sites = tuple(
        replace(
            one,
            number=n,
            name=f"module_{n % 300}.cc:{n} Some::Namespace::Class{n}::mutex_",
            place=f"module_{n % 300}.cc:{n}",
            share=1.0 / (n + 10),
            locks=tuple(replace(lock, number=3 * n + i) for i in range(3)),
            stats={Operation.LOCK: one.stats[Operation.LOCK]},
            threads={},
        )
        for n in range(1, 10_001)
    )
    profile = samples.profile(sites[:1], 0.5)
    where = [
        stack(f"f{n} m.cc:{n}", f"g{n % 90} m.cc:1", "main m.c:1") for n in range(900)
    ]
    return replace(
        profile,
        sites=sites,
        weights=tuple(
            Weight(3 * n, where[n % 900], 3, 1000 + n, 9, 5000)
            for n in range(1, 10_001)
        ),
        lock_order=tuple(
            OrderedPair(3 * n, 3 * (n * 7 % 9999 + 1), n, False, where[0])
            for n in range(1, 10_000)
        ),
        waiters=tuple(
            WaiterSample(t * 1_000_000, 3 * (t % 9000 + 1), 1, 2, 1)
            for t in range(10_000)
        ),
    )
