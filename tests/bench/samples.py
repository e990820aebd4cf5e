# SPDX-License-Identifier: MIT
"""Synthetic cases, locks and samples for tests of the benchmark's reports."""

from __future__ import annotations

from hasp.lab.bench.cases import Case
from hasp.lab.bench.runner import Sample
from hasp.lab.bench.schedule import Samples
from hasp.locks.native import LockInfo


def make_case(name: str = "uncontended", **changes: object) -> Case:
    fields: dict[str, object] = {
        "name": name,
        "threads": 2,
        "unit": "ns",
        "lower_is_better": True,
        "seconds": 0.1,
        "has_floor": False,
        "uses_lock": True,
        "summary": "made up",
    }
    return Case(**{**fields, **changes})  # type: ignore[arg-type]


def make_lock(name: str, **changes: object) -> LockInfo:
    fields: dict[str, object] = {
        "kind": "mutex",
        "name": name,
        "index": 1,
        "default": False,
        "category": "",
        "waiting": "",
        "fifo": False,
        "numa": False,
        "parks": True,
        "light": False,
        "trylock_hardened": False,
        "bypasses": True,
        "bypass_bound": -1,
        "bypass_each": False,
        "outside_bytes": 0,
        "node_bytes": 0,
        "bytes": 16,
        "waiter_bytes": 0,
        "summary": "",
        "source": "",
        "caution": "",
        "aliases": (),
    }
    return LockInfo(**{**fields, **changes})  # type: ignore[arg-type]


def collect(case: Case, **values: list[float | Sample]) -> Samples:
    """Return the samples of one case from the figures of each subject, by round."""
    samples = Samples()
    for subject, of_subject in values.items():
        samples.of[case, subject] = {
            number: value if isinstance(value, Sample) else Sample(value)
            for number, value in enumerate(of_subject)
        }
    return samples
