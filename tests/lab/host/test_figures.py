# SPDX-License-Identifier: MIT
"""Tests the figures and doubts that are computed from samples."""

from __future__ import annotations

import random
from typing import Any

import pytest

from hasp.base.host import Host
from hasp.base.interference import Interference
from hasp.lab.host import doubts
from hasp.lab.host import pairs as plan
from hasp.lab.host.clusters import disagreements, levels
from hasp.lab.host.rows import trimmed_share
from hasp.lab.host.samples import Figure, figure_of, modes
from hasp.lab.host.topology import CORE, PACKAGE, Cache, Cpu, Topology, cpus_of, parse


def normal(median: float, spread: float, count: int = 500) -> list[float]:
    generator = random.Random(1)
    return [generator.gauss(median, spread) for _ in range(count)]


def burst(cycles: list[float], **more: Any) -> dict[str, Any]:
    return {"batch": 1, "cycles": cycles, "overheads": [50] * len(cycles), **more}


def figure(cycles: list[float], **more: Any) -> Figure:
    found = figure_of([burst(cycles, **more)])
    assert found is not None
    return found


def test_a_figure_is_the_median_without_the_empty_region() -> None:
    found = figure(normal(250, 8))
    assert found.cycles == pytest.approx(200, abs=2)
    assert found.spread == pytest.approx(8 * 0.674, rel=0.2)
    assert (found.outliers, found.lost_overlap, found.modes) == (0, 0, None)
    assert doubts.of_figure("x", found) == []


def test_lines_of_two_kinds_give_one_steady_figure() -> None:
    """With near and far homes, the figure hardly depends on their shares."""
    found = []
    for near in (240, 260):
        bursts = [
            burst([*normal(200, 10, near), *normal(250, 10, 500 - near)])
            for _ in range(3)
        ]
        result = figure_of(bursts)
        assert result is not None
        found.append(result.cycles)
    assert found[0] == pytest.approx(found[1], rel=0.02)
    assert 160 < found[0] < 190


def test_a_figure_may_be_the_median_of_each_burst() -> None:
    """Wake-ups: a third of the calls may take a hundred times as long."""
    cycles = [*normal(250, 8, 65), *normal(25000, 800, 35)]
    for samples in (cycles, cycles[:64], [250.0, 250.0]):
        found = figure_of([burst(samples)], 0.5)
        assert found is not None
        assert found.cycles == pytest.approx(200, abs=9)
    assert figure(cycles).cycles > 1000


def test_wakeups_are_medians() -> None:
    wakeups = [("wait", "wake"), ("wait", "waking"), ("wakeup", "wake", 50)]
    others = [("wait", "switch"), ("pair", 0, 1), ("load", "l1", 4096)]
    assert [trimmed_share(key) for key in wakeups] == [0.5] * 3
    assert all(trimmed_share(key) < 0.5 for key in others)


def test_one_bad_burst_does_not_move_a_figure() -> None:
    bursts = [burst(normal(250, 8)), burst(normal(290, 8)), burst(normal(251, 8))]
    found = figure_of(bursts)
    assert found is not None
    assert found.cycles == pytest.approx(201, abs=1)


def test_the_time_of_a_batch_is_divided() -> None:
    row = {"batch": 10, "cycles": [1050.0] * 30, "overheads": [50] * 30}
    found = figure_of([row])
    assert found is not None
    assert found.cycles == 100


def test_outliers_are_dropped_and_counted() -> None:
    found = figure([*normal(250, 8), *[90_000.0] * 20])
    assert found.outliers == 20
    assert found.samples == 500
    assert found.cycles == pytest.approx(200, abs=2)
    assert doubts.of_figure("x", found) == []
    many = figure([*normal(250, 8), *[90_000.0 + 9000 * i for i in range(150)]])
    assert [doubt.doubt for doubt in doubts.of_figure("x", many)] == ["outliers"]


def test_small_figures_have_no_outliers() -> None:
    found = figure([52.0, 54.0, 56.0, 52.0, 54.0, 54.0, 54.0, 54.0] * 50)
    assert found.outliers == 0


def test_lost_overlap_is_dropped_counted_and_reported() -> None:
    found = figure(normal(250, 8), lost_overlap=list(range(60)))
    assert found.lost_overlap == 60
    assert found.samples == 440
    assert [doubt.doubt for doubt in doubts.of_figure("x", found)] == ["lost_overlap"]
    few = figure(normal(250, 8), lost_overlap=[3])
    assert doubts.of_figure("x", few) == []


def test_negative_samples_are_kept() -> None:
    """A sample below the overhead stays negative."""
    assert figure([40.0] * 30).cycles == -10
    assert figure_of([]) is None
    assert figure_of([burst([250.0], lost_overlap=[0])]) is None


def test_two_clusters_are_bimodal() -> None:
    found = figure([*normal(70, 3, 300), *normal(250, 8, 400)])
    assert found.modes is not None
    low, high = found.modes
    assert (low, high) == (pytest.approx(20, abs=2), pytest.approx(200, abs=3))
    assert [doubt.doubt for doubt in doubts.of_figure("x", found)] == ["bimodal"]


@pytest.mark.parametrize(
    "samples",
    [
        normal(200, 5),
        normal(200, 60),
        [100 + number for number in range(300)],  # uniform
        [
            *normal(200, 10, 480),
            *normal(900, 10, 20),
        ],  # a few values far away are outliers
        [*normal(200, 3), *normal(215, 3)],  # too close to matter
        [200.0] * 300,
        [6.0, 8.0] * 100,
    ],
)
def test_one_cluster_is_not_bimodal(samples: list[float]) -> None:
    assert modes(samples) is None


def machine(cores: list[int], packages: list[int]) -> Topology:
    cpus = tuple(
        Cpu(number, core, package, package)
        for number, (core, package) in enumerate(zip(cores, packages, strict=True))
    )
    return Topology(cpus)


def test_a_remote_line_as_fast_as_an_own_one() -> None:
    apart = machine([0, 1], [0, 0])
    (found,) = doubts.of_remote(15, 6, 0, 1, apart)
    assert found.doubt == "remote_is_local"
    assert "share a core, although the system reports otherwise" in found.words
    assert doubts.of_remote(180, 6, 0, 1, apart) == []
    assert doubts.of_remote(15, 6, 0, 1, machine([0, 0], [0, 0])) == []


def test_steal_throttling_and_load() -> None:
    steal = Interference(0.5, 10.0, 0)
    assert [doubt.doubt for doubt in doubts.of_interference(steal)] == ["steal"]
    throttled = Interference(0.0, 10.0, 3)
    assert [doubt.doubt for doubt in doubts.of_interference(throttled)] == ["throttled"]
    assert doubts.of_interference(Interference(0.01, 10.0, 0)) == []
    assert [doubt.doubt for doubt in doubts.of_load(3.0, 2)] == ["load"]
    assert doubts.of_load(0.2, 2) == []


def test_missing_privileges_and_cpus_are_doubts() -> None:
    assert doubts.of_means(True, 2) == []
    found = doubts.of_means(False, 1)
    assert [doubt.doubt for doubt in found] == ["no_real_time", "one_cpu"]


def test_threads_that_did_not_overlap() -> None:
    assert [doubt.doubt for doubt in doubts.of_gap("fai", 7e6)] == ["lost_overlap"]
    assert doubts.of_gap("fai", 2e4) == []


@pytest.mark.parametrize(
    ("state", "load", "store", "fine"),
    [
        ("modified", 6, 4, True),
        ("modified", 180, 180, False),
        ("exclusive", 6, 4, True),
        ("exclusive", 6, 180, False),
        ("shared", 6, 180, True),
        ("shared", 6, 4, False),
        ("owned", 6, 180, True),
        ("owned", 170, 180, False),
        ("invalid", 250, 280, True),
        ("invalid", 6, 4, False),
    ],
)
def test_states_are_verified(state: str, load: int, store: int, fine: bool) -> None:
    found = doubts.of_state(state, load, store, own=6, remote=180)
    assert (found == []) == fine
    assert all(doubt.doubt == "state" for doubt in found)


def test_levels_that_contradict_the_topology() -> None:
    latency = {(0, 1): 40.0, (2, 3): 42.0, (0, 2): 180.0, (0, 3): 190.0}
    latency |= {(1, 2): 185.0, (1, 3): 188.0}
    found = levels(latency)
    assert [level.cycles for level in found] == [41, 186.5]
    honest = dict.fromkeys(latency, PACKAGE) | {(0, 1): CORE, (2, 3): CORE}
    assert disagreements(found, honest, [CORE, PACKAGE]) == []
    # A virtual machine with a flat topology, and one with a wrong topology.
    flat = dict.fromkeys(latency, PACKAGE)
    (words,) = disagreements(found, flat, [PACKAGE])
    assert "should have one latency, but take 41 and 186 cycles" in words
    mixed = dict.fromkeys(latency, CORE) | {(0, 1): PACKAGE, (2, 3): PACKAGE}
    (words,) = disagreements(found, mixed, [CORE, PACKAGE])
    assert "same package should be slower than same core" in words
    (found_doubt,) = doubts.of_topology(found, flat, known=True)
    assert found_doubt.doubt == "topology"
    (found_doubt,) = doubts.of_topology(found, flat, known=False)
    assert "hwloc is not installed" in found_doubt.words


def test_levels_that_drift_are_one() -> None:
    assert len(levels({(0, n): 100.0 + 10 * n for n in range(1, 9)})) == 1


HWLOC = """<topology version="2.0">
 <object type="Machine" cpuset="0xf">
  <object type="Package" cpuset="0x3">
   <object type="NUMANode" os_index="0"/>
   <object type="L3Cache" depth="3" cache_size="8388608" cache_type="0" cpuset="0x3">
    <object type="L1iCache" depth="1" cache_size="32768" cache_type="2" cpuset="0x3">
     <object type="L1Cache" depth="1" cache_size="32768" cache_type="1" cpuset="0x3">
      <object type="Core"><object type="PU" os_index="0"/>
       <object type="PU" os_index="1"/></object>
     </object>
    </object>
   </object>
  </object>
  <object type="Package" cpuset="0xc">
   <object type="NUMANode" os_index="1"/>
   <object type="L3Cache" depth="3" cache_size="8388608" cache_type="0" cpuset="0xc">
    <object type="Core"><object type="PU" os_index="2"/></object>
    <object type="Core"><object type="PU" os_index="3"/></object>
   </object>
  </object>
 </object>
 <distances2 type="NUMANode" nbobjs="2"><indexes>0 1</indexes>
  <u64values length="5">10 21</u64values><u64values length="5">21 10</u64values>
 </distances2>
</topology>"""


def test_hwloc_output_is_parsed() -> None:
    topology = parse(HWLOC, [0, 1, 2, 3])
    assert topology.nodes == 2
    assert topology.relation(0, 1) == CORE
    assert topology.relation(2, 3) == "shared L3"
    assert topology.relation(1, 2) == "other package, distance 21"
    assert topology.relations() == [CORE, "shared L3", "other package, distance 21"]
    assert topology.cpu(0).caches[0] == Cache(1, 32768, frozenset({0, 1}))
    assert [cpu.number for cpu in parse(HWLOC, [1, 3]).cpus] == [1, 3]
    assert cpus_of("0x1,0x00000001") == {0, 32}


def test_roles_of_cpus() -> None:
    topology = parse(HWLOC, [0, 1, 2, 3])
    found = {cast.relation: cast for cast in plan.casts(topology)}
    far = found["other package, distance 21"]
    assert (far.cpu, far.holder, far.sharer) == (0, 2, 3)
    # Threads of a core share a copy, so the sharer is on another core.
    near = found[CORE]
    assert (near.cpu, near.holder, near.sharer) == (0, 1, 2)
    two = plan.casts(machine([0, 1], [0, 0]))
    assert [(cast.cpu, cast.holder, cast.sharer) for cast in two] == [
        (0, 1, None),
        (1, 0, None),
    ]
    assert plan.pairs(topology) == {0: [1, 2, 3], 1: [2, 3], 2: [3]}
    assert plan.crowds(topology, 0) == [[1, 2], [1, 2, 3]]
    assert [len(crew) for crew in plan.crews(topology)] == [1, 2, 3, 4]
    large = machine(list(range(300)), [0] * 300)
    assert sum(map(len, plan.pairs(large).values())) <= plan.MOST_PAIRS


def test_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    from hasp.base.errors import HaspError
    from hasp.lab.host.command import refuse_the_impossible

    def facts(quota: float | None) -> Host:
        return Host("h", "x86_64", "m", 2, 2, quota, 1, 1, "k", "l", 0.0)

    refuse_the_impossible(None, facts(None))
    with pytest.raises(HaspError, match=r"quota is 0\.5 CPUs"):
        refuse_the_impossible(None, facts(0.5))
    with pytest.raises(HaspError, match="may not use CPU 9999"):
        refuse_the_impossible([9999], facts(None))

    def forbidden(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.sched_setaffinity", forbidden)
    with pytest.raises(HaspError, match="cannot be pinned to a CPU"):
        refuse_the_impossible(None, facts(None))
