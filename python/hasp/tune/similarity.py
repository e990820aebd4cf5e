# SPDX-License-Identifier: MIT
"""Estimates how similar two candidates are, before any has run.

Locks of one family that wait in the same way tend to serve a program equally well, so a
run of one also gives information about the others. The shares were chosen on an earlier
study of the twelve programs of docs/studies/two-cpus; they only determine which
candidates run first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy

from hasp.compare.settings import Cell
from hasp.locks import native
from hasp.locks.given import given_lock, label
from hasp.locks.kinds import kind_of
from hasp.locks.native import LockInfo
from hasp.locks.site_plan.model import SitePlan
from hasp.statistics.ratio import Array

FAMILY = 0.3  # of the variance between locks is shared by a family
WAITING = 0.3  # by locks with the same order and waiting
ACROSS_THREADS = 0.3  # correlation of a lock with itself at another number of threads


def similarity(cells: Sequence[Cell], plans: Mapping[str, SitePlan]) -> Array:
    """Return the prior correlation of every pair of candidates."""
    names = [_features(cell.lock, plans) for cell in cells]
    columns = {key: place for place, key in enumerate({k: 0 for n in names for k in n})}
    table = numpy.zeros((len(cells), len(columns)))
    for row, features in enumerate(names):
        for key, weight in features.items():
            table[row, columns[key]] = weight
    alike = table @ table.T
    threads = numpy.array([cell.threads or 0 for cell in cells])
    alike = alike * numpy.where(threads[:, None] == threads, 1.0, ACROSS_THREADS)
    numpy.fill_diagonal(alike, 1.0)  # a plan's variance that is not shared is its own
    return numpy.asarray(alike)


def _features(name: str, plans: Mapping[str, SitePlan]) -> dict[str, float]:
    """Weights whose products, summed over common features, are a correlation."""
    plan = plans.get(name)
    if plan:
        locks = [native.lock(one.lock, kind_of(one.kind)) for one in plan.entries]
    else:
        locks = given_lock(name).used
    found: dict[str, float] = {}
    for lock in locks:
        for key, weight in _of_lock(lock).items():
            found[key] = found.get(key, 0.0) + weight / len(locks)
    return found


def _of_lock(lock: LockInfo) -> dict[str, float]:
    waiting = f"{lock.fifo} {lock.parks} {lock.collapses}"
    return {
        f"family {lock.category}": FAMILY**0.5,
        f"waiting {waiting}": WAITING**0.5,
        f"lock {label(lock)}": (1 - FAMILY - WAITING) ** 0.5,
    }
