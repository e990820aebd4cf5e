# SPDX-License-Identifier: MIT
"""`hasp profile` runs a program, which behaves and ends as it would without Hasp."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hasp.base.errors import HaspError
from hasp.base.sizes import format_size, parse_size
from hasp.profile.record import files
from hasp.profile.record.family import Family

from .conftest import compile_c

# A shell's background jobs ignore SIGINT, and tests may run in one.
RUN = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "from hasp.cli.main import main; sys.exit(main())"
)


def start(environment, folder, *words, **options):
    return subprocess.Popen(
        [sys.executable, "-c", RUN, "profile", *map(str, words)],
        env=environment,
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


@pytest.fixture
def recorded(environment):
    """Make the stand-in write traces."""
    environment["STAND_IN_TRACE"] = "1"


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 20
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("status", [0, 77])
def test_the_exit_status_is_that_of_the_program(cli, script, status):
    assert cli("profile", "--", script(f"exit {status}")).returncode == status


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_fatal_signal_is_that_of_the_program(cli, script, tmp_path, number):
    finished = cli("profile", "--", script(f"kill -{int(number)} $$"))
    assert finished.returncode == -number
    assert not list(tmp_path.glob("core*"))


def test_input_and_output_are_those_of_the_program(environment, tmp_path):
    process = start(environment, tmp_path, "--", "rev", stdin=-1, stdout=-1)
    output, errors = process.communicate("padlock\n", timeout=30)
    assert output == "kcoldap\n"
    assert "hasp:" in errors


@pytest.mark.parametrize("name", ["INT", "TERM", "USR1"])
def test_signals_are_passed_on(environment, tmp_path, script, name):
    body = (
        f"trap 'echo > got; exit 9' {name}; echo > ready; while :; do sleep .05; done"
    )
    process = start(environment, tmp_path, "--", script(body))
    wait_for(tmp_path / "ready")
    process.send_signal(signal.Signals["SIG" + name])
    process.communicate(timeout=30)
    assert process.returncode == 9
    assert (tmp_path / "got").exists()


def test_a_signal_without_a_handler_ends_both(environment, tmp_path, script):
    process = start(environment, tmp_path, "--", script("echo > ready; exec sleep 30"))
    wait_for(tmp_path / "ready")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == -signal.SIGINT


def test_the_program_starts_with_the_usual_signals(cli):
    finished = cli("profile", "--", "grep", "-E", "Sig(Ign|Blk)", "/proc/self/status")
    status = Path("/proc/self/status").read_text().splitlines()
    own = [line.split()[1] for line in status if line.startswith("SigIgn")]
    seen = [int(line.split()[1], 16) for line in finished.stdout.splitlines()]
    python_ignores = 1 << signal.SIGPIPE - 1 | 1 << signal.SIGXFSZ - 1
    # SIGQUIT has a different meaning at a terminal; the C library reserves 32 and 33.
    others = 1 << signal.SIGQUIT - 1 | 1 << 31 | 1 << 32
    assert seen[0] == 0
    assert seen[1] & ~others == int(own[0], 16) & ~python_ignores & ~others


def test_the_library_goes_first_and_the_lock_second(cli, tmp_path):
    words = ("profile", "--lock", "mcs", "--sample", "--limit", "3M", "--", "env")
    lines = dict(line.split("=", 1) for line in cli(*words).stdout.splitlines())
    names = [Path(path).name for path in lines["LD_PRELOAD"].split(":")]
    assert names == ["libhasp-profile.so", "libhasp.so"]
    assert lines["HASP_LOCK"] == lines["HASP_TRACE_LOCK"] == "mcs"
    assert lines["HASP_TRACE"] == str(tmp_path / "hasp.trace")
    assert lines["HASP_TRACE_MODE"] == "sample"
    assert lines["HASP_TRACE_LIMIT"] == str(3 << 20)
    assert len(lines["HASP_TRACE_SESSION"]) == 16


def test_under_glibc_only_the_recorder_is_preloaded(cli):
    lines = cli("profile", "--", "env").stdout.splitlines()
    preloaded = next(line for line in lines if line.startswith("LD_PRELOAD="))
    assert preloaded.endswith("libhasp-profile.so")
    assert "libhasp.so" not in preloaded


def test_profiling_does_not_affect_hasp_run(cli):
    words = [sys.executable, "-m", "hasp", "run", "--lock", "glibc", "--", "env"]
    assert "HASP_TRACE" not in cli("profile", "--", *words).stdout


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ((), "which program"),
        (("--limit", "1k", "--", "true"), "1 KiB"),
        (("--limit", "much", "--", "true"), "much"),
        (("--kill-on-hang", "--", "true"), "--hang-after"),
        (("-o", "no/folder/t", "--", "true"), "no/folder/t"),
        (("--lock", "padlock", "--", "true"), "padlock"),
        (("--", "no-such-program"), "no-such-program"),
    ],
)
def test_invalid_arguments_are_refused(cli, words, complaint):
    finished = cli("profile", *words)
    assert finished.returncode == 2
    assert complaint in finished.stderr


def test_a_static_program_is_refused(cli, tmp_path):
    source = "int main(void) { return 0; }"
    program = compile_c(source, tmp_path / "program", "-static")
    finished = cli("profile", "--", program)
    assert finished.returncode == 2
    assert "statically linked" in finished.stderr


def test_only_old_traces_are_replaced(cli, tmp_path, recorded):
    trace = tmp_path / "hasp.trace"
    for name in ("hasp.trace.2", "hasp.trace.3"):
        (tmp_path / name).write_bytes(files.MAGIC + bytes(100))
    (tmp_path / "hasp.trace.old").write_text("mine")
    assert cli("profile", "--", "true").returncode == 0
    assert [path.name for path in files.names(trace)] == ["hasp.trace"]
    assert (tmp_path / "hasp.trace.old").read_text() == "mine"
    for content in ("mine", "\0" * 100):
        trace.write_text(content)
        finished = cli("profile", "--", "true")
        assert finished.returncode == 2
        assert "hasp.trace is not a Hasp trace" in finished.stderr
        assert trace.read_text() == content


def test_a_numbered_file_that_is_not_a_trace_is_kept(cli, tmp_path, recorded):
    assert cli("profile", "--", "true").returncode == 0
    (tmp_path / "hasp.trace.7").write_text("mine")
    assert cli("profile", "--", "true").returncode == 2
    assert files.head(tmp_path / "hasp.trace")


def test_an_executable_is_never_overwritten(cli, script, tmp_path):
    program = script("exit 0")
    assert cli("profile", "-o", program, "--", "true").returncode == 2
    assert program.exists()


def test_a_trace_in_use_is_refused(environment, cli, tmp_path, script, recorded):
    process = start(environment, tmp_path, "--", script("echo > ready; exec sleep 30"))
    wait_for(tmp_path / "ready")
    try:
        finished = cli("profile", "--", "true")
        assert finished.returncode == 2
        assert "is still recording" in finished.stderr
    finally:
        process.terminate()
        process.communicate(timeout=30)


def test_traces_of_other_processes_are_listed(cli, script, recorded):
    finished = cli("profile", "--", script("rev < /dev/null & wait; cat /dev/null"))
    for name in ("hasp.trace", "hasp.trace.2", "hasp.trace.3"):
        assert name in finished.stderr


def test_a_missing_trace_is_reported(cli):
    finished = cli("profile", "--", "sleep", "0.2")
    assert finished.returncode == 0
    assert "nothing was recorded" in finished.stderr
    assert "hasp doctor" in finished.stderr


def test_a_static_program_in_a_script_is_reported(cli, script, tmp_path):
    source = "#include <unistd.h>\nint main(void) { return usleep(400000); }"
    program = compile_c(source, tmp_path / "inner", "-static")
    wrapper = script(f"exec {program}")
    finished = cli("profile", "--", wrapper)
    assert finished.returncode == 0
    assert f"{program} is statically linked" in finished.stderr


def test_a_cleared_environment_is_reported(cli, script):
    wrapper = script("env -i sleep 3; true")
    finished = cli("profile", "--", wrapper)
    assert "ran without Hasp's library" in finished.stderr


def test_a_full_disk_a_limit_and_another_user_are_reported(tmp_path, monkeypatch):
    family = Family(os.getpid())
    assert "second thread" in family.why_no_trace(tmp_path).message
    with monkeypatch.context() as patched:
        patched.setattr(resource, "getrlimit", lambda which: (102400, 102400))
        assert "at most 100 KiB" in family.why_no_trace(tmp_path).message
    family._users.add(65534)
    assert "cannot write to" in family.why_no_trace(tmp_path).message
    free = os.statvfs("/proc")  # a file system without free space
    monkeypatch.setattr(os, "statvfs", lambda folder: free)
    assert f"{tmp_path} has only 0 bytes left" in family.why_no_trace(tmp_path).message


@pytest.mark.parametrize(
    ("text", "size"),
    [("64k", 65536), ("256M", 256 << 20), ("1.5 GiB", 3 << 29), ("12", 12)],
)
def test_sizes(text, size):
    assert parse_size(text) == size
    assert parse_size(format_size(size).replace(" bytes", "")) == size


def test_an_invalid_size_is_refused():
    with pytest.raises(ValueError, match="not a size"):
        parse_size("a lot")


def test_only_files_of_the_session_count(tmp_path):
    trace = tmp_path / "t"
    trace.write_bytes(files.MAGIC + bytes(100))
    assert files.head(trace) is None
    assert files.of_session(trace, 0) == []
    head = [files.MAGIC, files.VERSION, files.BYTE_ORDER, 1, 1, 1, 7, 1, *[0] * 7]
    trace.write_bytes(files.HEAD.pack(*head))
    assert [found.path for found in files.of_session(trace, 7)] == [trace]
    assert files.of_session(trace, 8) == []
    with pytest.raises(HaspError):
        files.clear(tmp_path)
    assert trace.exists()
