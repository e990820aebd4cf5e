# SPDX-License-Identifier: MIT
"""What makes figures doubtful, each in a sentence that says what to do about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hasp.base.interference import Interference
from hasp.lab.host.clusters import Level, Pair, disagreements
from hasp.lab.host.samples import Figure
from hasp.lab.host.topology import CORE, UNKNOWN, Topology, nearness

STEAL_SHARE = 0.01
LOST_SHARE = 0.05  # of the samples
OUTLIER_SHARE = 0.2  # memory alone has a tail of a tenth
# A line of another core that comes within so many times what one's own cache takes was
# not with another core.
LOCAL_FACTOR = 3
GAP_NS = 1_000_000  # a thread that did nothing for so long had no CPU


@dataclass(frozen=True)
class Doubt:
    """One reason to doubt figures, and which."""

    doubt: str
    about: str
    words: str


def of_figure(name: str, figure: Figure) -> list[Doubt]:
    """What the samples themselves say."""
    found = []
    total = figure.samples + figure.lost_overlap + figure.outliers
    if figure.modes:
        low, high = figure.modes
        found.append(
            Doubt(
                "bimodal",
                name,
                f"samples crowd around {low:.0f} and {high:.0f} cycles, so the median "
                f"is one of two answers; measure again when the machine is idle",
            )
        )
    if figure.lost_overlap > LOST_SHARE * total:
        found.append(
            Doubt(
                "lost_overlap",
                name,
                f"in {figure.lost_overlap} of {total} samples a thread had no CPU; "
                f"they are dropped; stop other programs",
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
    """Threads that were to run together, and one had no CPU for a while."""
    if longest_gap_ns <= GAP_NS:
        return []
    words = f"a thread did nothing for {longest_gap_ns / 1e6:.0f} ms: "
    words += "for that long the others ran alone, and the figure is too good"
    return [Doubt("lost_overlap", name, words)]


def of_remote(
    remote: float, own: float, one: int, other: int, topology: Topology
) -> list[Doubt]:
    """A line of another CPU that comes as fast as one's own."""
    if remote > LOCAL_FACTOR * max(own, 1.0):
        return []
    about = f"CPUs {one} and {other}"
    words = f"a line that the other has modified takes {remote:.0f} cycles, one's own "
    words += f"{own:.0f}: "
    if topology.known and topology.relation(one, other) == CORE:
        return []  # two threads of a core share its caches
    words += (
        "they share a core, whatever the system says"
        if topology.known
        else "they share a core (install hwloc, and `hasp machine` knows)"
    )
    return [Doubt("remote_is_local", about, words)]


def of_interference(period: Interference) -> list[Doubt]:
    """CPU time that others took meanwhile."""
    found = []
    if period.steal_share > STEAL_SHARE:
        words = (
            f"the hypervisor gave {period.steal_share:.1%} of the CPU time to others"
        )
        found.append(Doubt("steal", "this host", f"{words}; measure when it does less"))
    if period.throttled > 0:
        words = f"the CPU quota stopped us {period.throttled} times; raise it"
        found.append(Doubt("throttled", "this host", words))
    return found


def of_means(real_time: bool, cpus: int) -> list[Doubt]:
    """What the measurement had to do without."""
    found = []
    if not real_time:
        words = "bursts ran as ordinary threads, so others came in between; "
        words += "run as root, or with CAP_SYS_NICE, for real time"
        found.append(Doubt("no_real_time", "this host", words))
    if cpus < 2:
        words = "one CPU: nothing that takes two of them is measured"
        found.append(Doubt("one_cpu", "this host", words))
    return found


def of_load(load: float, cpus: float) -> list[Doubt]:
    """Other programs at the start."""
    if load <= 0.5 * cpus:
        return []
    words = f"a load of {load:.1f} on {cpus:g} CPUs; medians are sound, tails are not"
    return [Doubt("load", "this host", words)]


def of_state(
    state: str, load: float, store: float, own: float, remote: float
) -> list[Doubt]:
    """Whether whoever was to hold the line does, by how fast its own operations are.

    A fast load tells that it has a copy, a fast store that nobody else has one.
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
        words = (
            "a modified line that another CPU reads leaves its holder: here `owned` "
        )
        words += "and `shared` after a store are `modified` with the reader"
    elif state == "exclusive" and not alone:
        words = (
            "the only reader of a line does not own it: here `exclusive` is `shared`"
        )
    else:
        words = "the script did not bring the state about: its holder's own load takes "
        words += f"{load:.0f} and its store {store:.0f} cycles"
    return [Doubt("state", state, words)]


def of_topology(
    found: Sequence[Level], relation: Mapping[Pair, str], known: bool
) -> list[Doubt]:
    """Where latency contradicts the system's description."""
    if not known:
        words = "hwloc is not installed, so nothing is known of caches and packages; "
        return [Doubt("topology", "this host", words + "`apt install hwloc-nox`")]
    order = sorted(set(relation.values()) - {UNKNOWN}, key=nearness)
    return [
        Doubt("topology", "this host", f"{words}; does a virtual machine make it up?")
        for words in disagreements(found, relation, order)
    ]
