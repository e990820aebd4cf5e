# SPDX-License-Identifier: MIT
"""Tests reproducibility, exclusion, memory order and deadlocks in the simulator."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from conftest import native_program

from hasp.lab.simulate.machines.flat import flatten
from hasp.lab.simulate.machines.machine import load

# One machine for each protocol; two machines have several threads per core.
MACHINES = ("opteron-48", "xeon-80", "niagara-64", "tilera-36", "i7-4770", "epyc-2x64")


@pytest.fixture(scope="module")
def flat(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("machines")
    files = {name: folder / f"{name}.flat" for name in MACHINES}
    for name, path in files.items():
        path.write_text(flatten(load(name)))
    return files


def run(
    machine: Path, *words: object, name: str = "simulator-engine"
) -> subprocess.CompletedProcess[str]:
    program = native_program(name)
    return subprocess.run(
        [program, machine, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.parametrize("threads", [2, 8, 36, 80])
@pytest.mark.parametrize("machine", MACHINES)
def test_every_lock_ensures_mutual_exclusion(
    flat: dict[str, Path], machine: str, threads: int
) -> None:
    if threads > load(machine).topology.cpus:
        pytest.skip("the machine has fewer CPUs")
    done = run(flat[machine], "exclusion", "all", threads)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_lock_without_mutual_exclusion_is_detected(flat: dict[str, Path]) -> None:
    done = run(flat["opteron-48"], "no-exclusion")
    assert done.returncode == 3
    assert "two threads are in the critical section" in done.stderr


@pytest.mark.parametrize("machine", ["opteron-48", "niagara-64"])
def test_output_is_reproducible(flat: dict[str, Path], machine: str) -> None:
    """The output is the same with address space randomisation."""
    first, *others = (run(flat[machine], "exclusion", "all", 12) for _ in range(3))
    assert first.stdout.count("\n") > 30
    assert {other.stdout for other in others} == {first.stdout}


@pytest.mark.parametrize("machine", MACHINES)
def test_stores_wait_in_a_buffer_and_fences_empty_it(
    flat: dict[str, Path], machine: str
) -> None:
    done = run(flat[machine], "order")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_thread_reads_its_buffered_count_of_nodes(flat: dict[str, Path]) -> None:
    done = run(flat["opteron-48"], "buffered-count")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("machine", MACHINES)
def test_no_thread_waits_forever(flat: dict[str, Path], machine: str) -> None:
    done = run(flat[machine], "watching")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("machine", ["niagara-64", "i7-4770"])
def test_a_line_cannot_be_read_before_it_arrives(
    flat: dict[str, Path], machine: str
) -> None:
    done = run(flat[machine], "arrival")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_thread_that_wakes_up_preempts(flat: dict[str, Path]) -> None:
    done = run(flat["opteron-48"], "preempts", name="simulator-sharing")
    assert done.returncode == 0, done.stderr


def test_a_thread_woken_by_one_of_its_own_cpu_needs_no_interrupt(
    flat: dict[str, Path],
) -> None:
    """Natively, it ran after 2.4 us, and one of another CPU after 12 to 20 us."""
    done = run(flat["opteron-48"], "nearby", name="simulator-sharing")
    assert done.returncode == 0, done.stderr


def test_wakeups_cost_what_the_table_says_of_the_idle_time(
    flat: dict[str, Path], tmp_path: Path
) -> None:
    """Of a busy CPU's, too, of ends of timed sleeps, and of the cost of parking."""
    done = run(flat["opteron-48"], "idle", name="simulator-sharing")
    assert done.returncode == 3
    assert "idle for a short time" in done.stderr
    rows = "wakeup 0 8000 500\nwakeup 210000 60000 2500\n"  # 100 us
    table = broken(flat["opteron-48"], "nodes 8\n", "nodes 8\n" + rows, tmp_path)
    done = run(table, "idle", name="simulator-sharing")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("machine", ["opteron-48", "i7-4770"])
def test_waiters_yield_their_cpu(flat: dict[str, Path], machine: str) -> None:
    done = run(flat[machine], "yields", name="simulator-sharing")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("machine", ["opteron-48", "niagara-64"])
def test_timed_locks_end_at_their_deadline(flat: dict[str, Path], machine: str) -> None:
    done = run(flat[machine], "timeout")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("lock", ["futex", "mcs", "ticket", "tas", "mcs-park"])
def test_a_deadlock_is_reported(flat: dict[str, Path], lock: str) -> None:
    done = run(flat["xeon-80"], "deadlock", lock)
    assert done.returncode == 1
    first, *rest = done.stderr.splitlines()
    assert first == "hasp: the simulated program cannot end:"
    for thread in (0, 1):
        who = [line for line in rest if line.startswith(f"  thread {thread} on CPU")]
        assert who and re.search(r"waits for|sleeps on|polls", who[0])
    assert "last written by thread" in done.stderr


def broken(path: Path, old: str, new: str, folder: Path) -> Path:
    text = path.read_text()
    assert old in text
    wrong = folder / "wrong.flat"
    wrong.write_text(text.replace(old, new, 1))
    return wrong


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("local.l1 5\n", "", "the key local.l1 is missing"),
        ("local.l1 5", "local.l1 -5", 'local.l1 is "-5"; it should be a whole number'),
        ("local.l1 5", "local.l1 5 6", '"6" follows the value of local.l1'),
        ("local.l1 5", "local.l0 5", "unknown key local.l0"),
        ("local.l1 5", "local.l1 5\nlocal.l1 5", "local.l1 is given twice"),
        ("latency load modified", "latency load mangled", 'that was "mangled"'),
        ("latency load modified", "#latency", "the key latency load modified is"),
        ("between_places 3 ", "between_places 99 ", 'between_places is "99"'),
        ("protocol mesif-inclusive", "protocol msi", 'protocol is "msi"'),
        ("local.l1 5\n", "local.l1 5\nwakeup 9 1 1\n", "first idle time should be"),
        (
            "local.l1 5\n",
            "local.l1 5\n" + 2 * "wakeup 0 1 1\n",
            "idle times should increase",
        ),
        (
            "local.l1 5\n",
            "local.l1 5\n" + "".join(f"wakeup {i} 1 1\n" for i in range(33)),
            "wakeup: there are too many",
        ),
        ("local.l1 5\n", "local.l1 5\nwakeup 0 0 1\n", 'wakeup is "0"'),
        ("local.l1 5\n", "local.l1 5\nwakeup 0 1\n", "wakeup: a number is missing"),
    ],
)
def test_a_wrong_machine_file_is_refused_by_line_and_key(
    flat: dict[str, Path], tmp_path: Path, old: str, new: str, complaint: str
) -> None:
    wrong = broken(flat["xeon-80"], old, new, tmp_path)
    done = run(wrong, "watching")
    assert done.returncode == 2
    assert complaint in done.stderr
    where = re.match(re.escape(str(wrong)) + r":(\d+: )?", done.stderr)
    assert where, done.stderr


def test_more_workers_than_cpus_are_refused_or_scheduled(flat: dict[str, Path]) -> None:
    done = run(flat["i7-4770"], "exclusion", "mcs", 9)
    assert done.returncode in (0, 3)
    if done.returncode:
        assert "9 workers, but i7-4770 has 8 CPUs" in done.stderr
