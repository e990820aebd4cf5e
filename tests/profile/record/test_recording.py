# SPDX-License-Identifier: MIT
"""Runs the real recorder under `hasp profile` and `hasp top`: hangs, forks, daemons."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import RUN_HASP, native_program
from waiting import has_ended, wait_until

from hasp.profile.model.build import load
from hasp.profile.model.snapshot import Snapshot, take
from hasp.profile.record import files

HANG = ("--hang-after", "0.3s")


@pytest.fixture
def hangs() -> Path:
    return native_program("hangs")


def wait_for_trace(path: Path) -> files.Trace:
    """Wait until the recorder has written the trace's header, and return the trace."""
    return wait_until(lambda: files.head(path))


def acquisitions(path: Path) -> int:
    """Return the number of acquisitions recorded so far."""
    return sum(sums.acquisitions for sums in take(path).sites.values())


def waiting(snapshot: Snapshot) -> int:
    """Return the number of threads waiting for a lock."""
    return sum(1 for thread in snapshot.threads if thread.waiting_for)


def start(folder: Path, *words: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", RUN_HASP, *map(str, words)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("opposite", ["deadlock: 2 threads wait for each other", "&credit", "&debit"]),
        pytest.param(
            "itself",
            ["deadlock: a thread waits for a lock that it already holds"],
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "forgotten",
            ["1 thread waits for hangs.c", "&debit"],
            marks=pytest.mark.slow,
        ),
        pytest.param("lost", ["none can wake another"], marks=pytest.mark.slow),
    ],
)
def test_a_hang_is_explained_and_ended(hasp, hangs, tmp_path, how, words):
    command = ("profile", *HANG, "--kill-on-hang", "--", hangs, how)
    finished = hasp(*command, cwd=tmp_path)
    assert finished.returncode == 1
    assert finished.stdout == "started\n"
    assert "no progress for 300 ms" in finished.stderr
    for word in words:
        assert word in finished.stderr
    warnings = load(tmp_path / "hasp.trace").warnings
    ends = [warning for warning in warnings if "ended the program" in warning]
    assert len(ends) == 1
    assert "SIGTERM" in ends[0] or "SIGKILL" in ends[0]


@pytest.mark.slow
def test_a_temporary_hang_is_reported_once_and_nothing_is_killed(hasp, hangs, tmp_path):
    # The hang is long enough to be polled on a busy machine.
    finished = hasp("profile", *HANG, "--", hangs, "sleeps", "8", cwd=tmp_path)
    assert finished.returncode == 0
    assert finished.stderr.count("no progress for 300 ms") == 1
    held = r"held by hangs \(tid \d+\), which is running, or"
    assert re.search(held, finished.stderr)


@pytest.mark.slow
def test_a_program_that_works_or_is_stopped_does_not_hang(hangs, tmp_path):
    hasp = start(tmp_path, "profile", "--hang-after", "2s", "--", hangs, "works")
    trace = wait_for_trace(tmp_path / "hasp.trace")
    wait_until(lambda: acquisitions(trace.path) > 200)
    os.kill(trace.pid, signal.SIGSTOP)
    time.sleep(3)  # longer than --hang-after
    before = acquisitions(trace.path)
    os.kill(trace.pid, signal.SIGCONT)
    wait_until(lambda: acquisitions(trace.path) > before + 100)
    os.kill(trace.pid, signal.SIGTERM)
    _, errors = hasp.communicate(timeout=30)
    assert hasp.returncode == -signal.SIGTERM
    assert "no progress" not in errors


@pytest.mark.slow
def test_sigquit_prints_waits_and_the_program_continues(hangs, tmp_path):
    hasp = start(tmp_path, "profile", "--", hangs, "opposite")
    trace = wait_for_trace(tmp_path / "hasp.trace")
    wait_until(lambda: waiting(take(trace.path)) == 2)
    hasp.send_signal(signal.SIGQUIT)
    assert hasp.stderr is not None
    line = hasp.stderr.readline()
    assert f"waiting threads of process {trace.pid}" in line
    assert "deadlock" in hasp.stderr.readline()
    assert files.head(trace.path).running
    os.kill(trace.pid, signal.SIGKILL)
    hasp.communicate(timeout=30)
    assert hasp.returncode == -signal.SIGKILL


def test_after_sigkill_the_trace_is_complete(hangs, tmp_path):
    hasp = start(tmp_path, "profile", "--", hangs, "works")
    trace = wait_for_trace(tmp_path / "hasp.trace")
    wait_until(lambda: acquisitions(trace.path) > 20)
    os.kill(trace.pid, signal.SIGKILL)
    _, errors = hasp.communicate(timeout=30)
    assert hasp.returncode == -signal.SIGKILL
    assert "see `hasp report hasp.trace`" in errors
    profile = load(trace.path)
    assert not profile.ended
    (site,) = [site for site in profile.sites if "third" in site.name]
    assert site.total.acquisitions > 20


def test_processes_of_a_shell_are_recorded_separately(hasp, hangs, tmp_path):
    line = f"{hangs} sleeps & {hangs} sleeps & wait"
    finished = hasp("profile", "--", "sh", "-c", line, cwd=tmp_path)
    assert finished.returncode == 0
    assert re.search(r"also recorded: hasp\.trace(\.2)?, hangs", finished.stderr)
    profile = load(tmp_path / "hasp.trace")
    assert profile.others == (str(tmp_path / "hasp.trace.2"),)
    assert profile.ended
    for name in ("hasp.trace", "hasp.trace.2"):
        assert (tmp_path / (name + files.SYMBOLS)).exists()


@pytest.mark.slow
def test_a_daemon_that_outlives_the_program_is_reported(hasp, hangs, tmp_path):
    script = (
        f"setsid {hangs} works > /dev/null 2>&1 < /dev/null & "
        "until [ -s hasp.trace ]; do sleep 0.02; done"
    )
    finished = hasp("profile", "--", "sh", "-c", script, cwd=tmp_path)
    pid = wait_for_trace(tmp_path / "hasp.trace").pid
    os.kill(pid, signal.SIGKILL)
    assert finished.returncode == 0
    assert re.search(rf"process(es)? .*{pid}.* still run", finished.stderr)


@pytest.mark.slow
def test_the_report_goes_to_stderr(hasp, hangs, tmp_path):
    finished = hasp("profile", "--report", "--", hangs, "sleeps", cwd=tmp_path)
    assert finished.stdout == "started\n"
    assert "acquisitions" in finished.stderr or "taken" in finished.stderr
    assert "&debit" in finished.stderr


def test_top_in_plain_tables(hasp, hangs, tmp_path):
    words = ("top", "--plain", "2", "--interval", "0.3s", "--", hangs, "works")
    finished = hasp(*words, cwd=tmp_path)
    assert finished.returncode == 0
    assert finished.stdout.count("recording ") == 2
    assert "&third" in finished.stdout
    assert max(map(len, finished.stdout.splitlines())) <= 80
    assert "started" in finished.stderr
    trace = files.head(tmp_path / "hasp.trace")
    assert trace is not None
    assert not trace.running  # quitting ends the program


@pytest.mark.slow
def test_top_does_not_disturb_a_recorded_program(hasp, hangs, tmp_path):
    profile = start(tmp_path, "profile", "--", hangs, "opposite")
    trace = wait_for_trace(tmp_path / "hasp.trace")
    wait_until(lambda: waiting(take(trace.path)) == 2)
    words = ("top", "--once", "--interval", "0.2s", "hasp.trace")
    finished = hasp(*words, cwd=tmp_path)
    assert finished.returncode == 0
    assert "&credit" in finished.stdout
    assert profile.poll() is None
    os.kill(trace.pid, signal.SIGTERM)
    profile.communicate(timeout=30)
    again = hasp(*words, cwd=tmp_path)
    assert again.returncode == 2
    assert "hasp report" in again.stderr


def test_killing_top_ends_its_program(hangs, tmp_path):
    top = start(tmp_path, "top", "--plain", "99", "--", hangs, "works")
    pid = wait_for_trace(tmp_path / "hasp.trace").pid
    top.kill()
    top.communicate(timeout=30)
    wait_until(lambda: has_ended(pid))


def test_top_exits_with_the_status_of_the_program(hasp, tmp_path):
    finished = hasp("top", "--plain", "3", "--", "sh", "-c", "exit 7", cwd=tmp_path)
    assert finished.returncode == 7
    assert "nothing was recorded" in finished.stderr


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--plain", "0", "--", "true"), "--plain 0"),
        (("--", "true"), "needs a terminal"),
        ((), "which program"),
        (("--once", "no.trace"), "the trace no.trace does not exist"),
        (("--once", "--output", "no/folder", "--", "true"), "no/folder"),
    ],
)
def test_top_refuses_invalid_arguments(hasp, tmp_path, words, complaint):
    finished = hasp("top", *words, cwd=tmp_path, stdin=subprocess.DEVNULL)
    assert finished.returncode == 2
    assert complaint in finished.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("profile", "--fail-if", "wait.p99 > 1 parsec"),
        ("profile", "--limit", "1K"),
        ("profile", "--lock", "nolock"),
        ("profile", "--plan", "no.toml"),
        ("profile", "--control", "no.fifo"),
        ("top", "--once", "--output", "no/folder"),
    ],
)
def test_a_refused_command_keeps_the_trace_of_an_earlier_run(hasp, tmp_path, words):
    trace = tmp_path / "hasp.trace"
    trace.write_bytes(files.MAGIC)
    finished = hasp(*words, "--", "true", cwd=tmp_path)
    assert finished.returncode == 2
    assert trace.exists()


def test_a_part_of_the_run_is_recorded_on_command(tmp_path):
    """The part is far shorter than the run, and its trace exists before the end."""
    control = tmp_path / "control"
    os.mkfifo(control)
    trace = tmp_path / "hasp.trace"
    program = native_program("profile/profile_what_if")
    process = subprocess.Popen(
        [
            *(sys.executable, "-c", RUN_HASP, "profile", "-o", trace),
            *("--control", control, "--", program, "2", "60", "s500", "s500"),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_for_trace(trace)
        wait_until(lambda: acquisitions(trace) > 100)
        inode = trace.stat().st_ino
        control.write_text("start\n")
        before = acquisitions(trace)
        wait_until(lambda: acquisitions(trace) > before + 300)
        control.write_text("stop\n")
        wait_until(lambda: trace.stat().st_ino != inode)
        found = load(trace)
        assert found.skipped_ns
        assert found.sites[0].total.acquisitions >= 100
        assert process.poll() is None, "the program goes on"
    finally:
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate()
    assert load(trace).skipped_ns == found.skipped_ns
    assert "see `hasp report" in errors


def test_a_part_needs_a_pipe(tmp_path):
    finished = subprocess.run(
        [sys.executable, "-c", RUN_HASP, "profile", "--control", "x", "--", "true"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert finished.returncode == 2
    assert "x is not a named pipe" in finished.stderr
