# SPDX-License-Identifier: MIT
"""Tests the detection of disturbances of a measurement, with synthetic counters."""

from __future__ import annotations

import os

import pytest

from hasp.base.interference import Interference, interference

TICKS = os.sysconf("SC_CLK_TCK")


def stat(path, **cpus):
    """Write /proc/stat: per CPU, user nice system idle iowait irq softirq steal."""
    lines = [f"cpu  {'9999999 ' * 10}"]
    for name, seconds in cpus.items():
        ticks = " ".join(str(round(second * TICKS)) for second in seconds)
        lines.append(f"{name} {ticks} 0 0")
    path.write_text("\n".join([*lines, "ctxt 5"]) + "\n")
    return path


def test_only_cpus_in_use_count(tmp_path):
    first = min(os.sched_getaffinity(0))
    names = {f"cpu{first}": (1, 2, 3, 50, 60, 4, 5, 6), f"cpu{first + 1}": (7,) * 8}
    found = interference([first], stat=stat(tmp_path / "s", **names), cpus=tmp_path)
    assert found.busy == pytest.approx(1 + 2 + 3 + 4 + 5)
    assert found.steal == pytest.approx(6)


def test_a_container_that_renumbers_its_cpus(tmp_path):
    path = tmp_path / "s"
    path.write_text(f"cpu {'10 ' * 10}\ncpu900 {'1 ' * 10}\n")
    assert interference(stat=path, cpus=tmp_path).steal == pytest.approx(10 / TICKS)


def test_thermal_throttling_is_counted_if_the_processor_reports_it(tmp_path):
    first = min(os.sched_getaffinity(0))
    path = stat(tmp_path / "s", **{f"cpu{first}": (0,) * 8})
    assert interference([first], stat=path, cpus=tmp_path).heated == 0
    folder = tmp_path / f"cpu{first}" / "thermal_throttle"
    folder.mkdir(parents=True)
    (folder / "core_throttle_count").write_text("17\n")
    assert interference([first], stat=path, cpus=tmp_path).heated == 17


def test_other_load_is_all_load_minus_the_programs():
    before = Interference(1.0, 100.0, 3, 40.0, 2)
    passed = Interference(1.5, 110.0, 4, 46.0, 2) - before
    assert passed == Interference(0.5, 10.0, 1, 6.0, 0)
    assert passed.steal_share == pytest.approx(0.05)
    assert passed.other_share(4.0) == pytest.approx(0.2)
    assert passed.other_share(7.0) == 0.0


def test_this_host_has_such_counters():
    before = interference()
    while (now := interference() - before).busy == 0:
        pass
    assert now.busy > 0
    assert now.cpu_time > 0
