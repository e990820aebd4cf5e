# SPDX-License-Identifier: MIT
"""Tests energy from simulated counters and as a metric; it is absent without any."""

from __future__ import annotations

import os

import pytest

from hasp.base.energy import perf_events, powercap
from hasp.base.energy.meter import Counter, Meter
from hasp.compare.run_record import OK, Run
from hasp.study.metrics import metrics_of, with_derived


def zone(root, name, kind, energy_uj, limit=262_143_328_850):
    folder = root / name
    folder.mkdir(parents=True)
    (folder / "name").write_text(f"{kind}\n")
    (folder / "energy_uj").write_text(f"{energy_uj}\n")
    (folder / "max_energy_range_uj").write_text(f"{limit}\n")
    return folder / "energy_uj"


@pytest.fixture
def tree(tmp_path):
    """Make two packages, and counters that must not be added to them."""
    first = zone(tmp_path, "intel-rapl:0", "package-0", 1_000_000)
    second = zone(tmp_path, "intel-rapl:1", "package-1", 262_143_000_000)
    others = [
        zone(tmp_path, "intel-rapl:0:0", "core", 5),
        zone(tmp_path, "intel-rapl:0:1", "dram", 5),
        zone(tmp_path, "intel-rapl:2", "psys", 5),
        zone(tmp_path, "intel-rapl-mmio:0", "package-0", 5),
    ]
    return tmp_path, first, second, others


def test_packages_are_summed_and_counters_wrap(tree):
    root, first, second, others = tree
    count = powercap.find(root).begin()
    first.write_text("3500000\n")
    second.write_text("671150\n")  # past the end of its range
    for other in others:
        other.write_text("99000000\n")
    assert count.joules() == pytest.approx(2.5 + 1.0)
    first.write_text("4500000\n")
    assert count.joules() == pytest.approx(4.5)


def test_missing_counters_are_absent_not_zero(tree, tmp_path):
    assert powercap.find(tmp_path / "none") is None
    root, first, second, _ = tree
    count = powercap.find(root).begin()
    assert count.joules() is None  # counters that do not change add nothing
    first.write_text("2000000\n")
    assert count.joules() == pytest.approx(1.0)
    second.unlink()  # one package is not the whole host
    assert count.joules() is None
    assert powercap.find(root) is None
    assert powercap.packages(root), (
        "the host has counters, but no permission to read them"
    )
    first.write_text("garbage\n")
    assert powercap.find(root) is None


def test_a_wrapping_counter_of_unknown_range_is_ignored():
    readings = iter([100, 50])
    meter = Meter("made up", (Counter(lambda: next(readings), 1.0, None),))
    assert meter.begin().joules() is None


@pytest.fixture
def events(tmp_path):
    (tmp_path / "events").mkdir()
    (tmp_path / "type").write_text("32\n")
    (tmp_path / "cpumask").write_text("0,16\n")
    (tmp_path / "events/energy-pkg").write_text("event=0x02\n")
    (tmp_path / "events/energy-pkg.scale").write_text("2.3283064365386962890625e-10\n")
    return tmp_path


def test_perf_counts_each_package_on_its_cpu(events):
    asked, writers = [], []

    def opened(kind, config, cpu):
        asked.append((kind, config, cpu))
        reader, writer = os.pipe()
        writers.append(writer)
        return reader

    meter = perf_events.find(events, opened)
    assert asked == [(32, 2, 0), (32, 2, 16)]
    for writer in writers:
        os.write(writer, (7 << 32).to_bytes(8, "little"))
    count = meter.begin()
    for steps, writer in enumerate(writers, 1):
        os.write(writer, ((7 + steps) << 32).to_bytes(8, "little"))
    assert count.joules() == pytest.approx(3.0)  # 2^32 steps are a joule


def test_perf_without_permission(events, tmp_path):
    opened = []

    def refuse_the_second(kind, config, cpu):
        if opened:
            return -13
        opened.append(os.dup(0))
        return opened[0]

    assert perf_events.find(events, refuse_the_second) is None
    with pytest.raises(OSError, match="Bad file"):
        os.fstat(opened[0])  # the first is closed again
    assert perf_events.find(tmp_path / "none") is None
    (events / "cpumask").write_text("\n")
    assert perf_events.find(events) is None


def test_a_real_event_counts(events):
    """A CPU clock event in place of energy, because the system call is the same."""
    for name, text in (("type", "1"), ("cpumask", str(min(os.sched_getaffinity(0))))):
        (events / name).write_text(text)
    (events / "events/energy-pkg").write_text("event=0x0")
    meter = perf_events.find(events)
    if meter is None:
        pytest.skip("this host does not permit counting the events of a whole CPU")
    count = meter.begin()
    while count.joules() is None:
        pass
    assert count.joules() > 0


def per_work(**fields):
    run = Run(1, "mcs", 2, OK, wall_s=2.0, user_s=1.0, system_s=2.0, **fields)
    return with_derived(metrics_of(run), run.wall_s)


def test_throughput_per_power():
    found = per_work(energy_j=50.0, figures={"throughput": 1000.0})
    # 1000 operations a second at 25 W.
    assert found["tpp"] == pytest.approx(40.0)
    assert found["energy_j"] == 50.0
    assert per_work(energy_j=50.0)["tpp"] == pytest.approx(1 / 50)  # a run for 50 J
    assert not {"tpp", "energy_j"} & {*per_work()}


def test_cpu_time_is_compared_per_unit_of_work():
    """If two programs run for 2 s each, the slower one is not more efficient."""
    fast, slow = (per_work(figures={"throughput": rate}) for rate in (1000.0, 500.0))
    assert fast["cpu_s"] == slow["cpu_s"] == 3.0
    assert slow["cpu_s_per_op"] == pytest.approx(2 * fast["cpu_s_per_op"])
    assert fast["cpu_s_per_op"] == pytest.approx(3.0 / 2000)
    assert per_work()["cpu_s_per_op"] == pytest.approx(3.0)
    assert "cpu_s_per_op" not in with_derived({"cpu_s": 3.0}, 2.0)
