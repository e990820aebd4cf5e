# SPDX-License-Identifier: MIT
"""Reasons to doubt a measurement, each a sentence that suggests a remedy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hasp.base.interference import Interference
from hasp.lab.host.clusters import Level, Pair, disagreements
from hasp.lab.host.samples import Figure
from hasp.lab.host.topology import CORE, UNKNOWN, Topology, nearness

STEAL_SHARE = 0.01
LOST_SHARE = 0.05  # of the samples
OUTLIER_SHARE = 0.2  # memory accesses alone have a tail of 10 %
# A remote line must take longer than this multiple of a local one; a faster transfer
# means that both CPUs share a core.
LOCAL_FACTOR = 3
GAP_NS = 1_000_000  # a thread that made no progress for this long had no CPU


@dataclass(frozen=True)
class Doubt:
    """One reason to doubt the figures named in `about`."""

    doubt: str
    about: str
    words: str


def of_figure(name: str, figure: Figure) -> list[Doubt]:
    """Return the doubts that the samples of a figure raise by themselves."""
    found = []
    total = figure.samples + figure.lost_overlap + figure.outliers
    if figure.modes:
        low, high = figure.modes
        found.append(
            Doubt(
                "bimodal",
                name,
                f"samples cluster around {low:.0f} and {high:.0f} cycles, so the "
                f"median shows only one of them; measure again on an idle machine",
            )
        )
    if figure.lost_overlap > LOST_SHARE * total:
        found.append(
            Doubt(
                "lost_overlap",
                name,
                f"in {figure.lost_overlap} of {total} samples a thread had no CPU; "
                f"they were dropped; stop other programs",
            )
        )
    if figure.outliers > OUTLIER_SHARE * total:
        found.append(
            Doubt(
                "outliers",
                name,
                f"{figure.outliers} of {total} samples are outliers; stop other "
                f"programs, or pin the clock rate",
            )
        )
    return found


def of_gap(name: str, longest_gap_ns: float) -> list[Doubt]:
    """Return a doubt if one of several concurrent threads lost its CPU for long."""
    if longest_gap_ns <= GAP_NS:
        return []
    words = f"a thread made no progress for {longest_gap_ns / 1e6:.0f} ms: "
    words += "the others ran without it, so the figure is too optimistic"
    return [Doubt("lost_overlap", name, words)]


def of_remote(
    remote: float, own: float, one: int, other: int, topology: Topology
) -> list[Doubt]:
    """Return a doubt if a remote line is as fast as a local one."""
    if remote > LOCAL_FACTOR * max(own, 1.0):
        return []
    about = f"CPUs {one} and {other}"
    words = f"a line modified by the other CPU takes {remote:.0f} cycles, a local one "
    words += f"{own:.0f}: "
    if topology.known and topology.relation(one, other) == CORE:
        return []  # two threads of a core share its caches
    words += (
        "they share a core, although the system reports otherwise"
        if topology.known
        else "they share a core (install hwloc, so that `hasp machine` can tell)"
    )
    return [Doubt("remote_is_local", about, words)]


def of_interference(period: Interference) -> list[Doubt]:
    """Return doubts about CPU time lost to a hypervisor or a quota."""
    found = []
    if period.steal_share > STEAL_SHARE:
        words = f"the hypervisor took {period.steal_share:.1%} of the CPU time"
        found.append(
            Doubt(
                "steal",
                "this host",
                f"{words}; measure when it is less busy",
            )
        )
    if period.throttled > 0:
        words = f"the CPU quota throttled us {period.throttled} times; raise it"
        found.append(Doubt("throttled", "this host", words))
    return found


def of_means(real_time: bool, cpus: int) -> list[Doubt]:
    """Return doubts about privileges and CPUs that the measurement lacked."""
    found = []
    if not real_time:
        words = "bursts ran without real-time priority and may have been preempted; "
        words += "run as root or with CAP_SYS_NICE"
        found.append(Doubt("no_real_time", "this host", words))
    if cpus < 2:
        words = "only one CPU: measurements that need two are skipped"
        found.append(Doubt("one_cpu", "this host", words))
    return found


def of_load(load: float, cpus: float) -> list[Doubt]:
    """Return a doubt if other programs were running at the start."""
    if load <= 0.5 * cpus:
        return []
    words = f"load average {load:.1f} on {cpus:g} CPUs; trust medians, but not tails"
    return [Doubt("load", "this host", words)]


def of_state(
    state: str, load: float, store: float, own: float, remote: float
) -> list[Doubt]:
    """Return a doubt if the line was not in the intended coherence state.

    The intended holder times its own operations (cycles): a fast load shows that it has
    a copy, a fast store that no other CPU has one.
    """
    limit = (own + remote) / 2
    has_copy, alone = load < limit, store < limit
    expected = {
        "modified": (True, True),
        "exclusive": (True, True),
        "owned": (True, False),
        "shared": (True, False),
        "invalid": (False, False),
    }[state]
    if (has_copy, alone) == expected:
        return []
    if state == "owned" and not has_copy:
        words = "reading a modified line moves it away from its holder here: `owned` "
        words += "and `shared` after a store are `modified` at the reader"
    elif state == "exclusive" and not alone:
        words = (
            "a line's only reader does not own it on this host: `exclusive` is `shared`"
        )
    else:
        words = "the line did not reach this state: its holder's own load takes "
        words += f"{load:.0f} cycles and its store {store:.0f}"
    return [Doubt("state", state, words)]


def of_topology(
    found: Sequence[Level], relation: Mapping[Pair, str], known: bool
) -> list[Doubt]:
    """Return doubts where latencies contradict the topology that hwloc reports."""
    if not known:
        words = "hwloc is not installed, so caches and packages are unknown; "
        return [Doubt("topology", "this host", words + "`apt install hwloc-nox`")]
    order = sorted(set(relation.values()) - {UNKNOWN}, key=nearness)
    return [
        Doubt(
            "topology",
            "this host",
            f"{words}; virtual machines may report a false one",
        )
        for words in disagreements(found, relation, order)
    ]
