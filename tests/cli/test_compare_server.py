# SPDX-License-Identifier: MIT
"""`hasp compare --server` runs the server under the lock, and its load natively."""

from __future__ import annotations

import json
import socket
import sys
import time
from pathlib import Path

import pytest

from .conftest import make_executable

SERVER = """
import os, signal, socket, sys, time
lock = os.environ.get("HASP_LOCK", "glibc")
port, log = int(sys.argv[1]), sys.argv[2]
note = lambda words: open(log, "a").write(words + "\\n")
if len(sys.argv) > 3 and lock == "mcs":
    exec(sys.argv[3])
time.sleep(0.1)
listener = socket.create_server(("127.0.0.1", port))
note("serve " + lock)
def stop(*_):
    note("stop")
    sys.exit(0)
signal.signal(signal.SIGTERM, stop)
block = bytearray(80 << 20)
while True:
    connection, _ = listener.accept()
    if connection.recv(4) == b"work":
        end = time.process_time() + 0.1
        while time.process_time() < end:
            pass
        connection.sendall(b"rate: 42\\n")
    connection.close()
"""

# The end of a shell script for a server that is ready once the file "up" exists.
UP = 'trap "rm up; exit" TERM; touch up; sleep 30 & wait'

LOAD = """
import os, socket, sys
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
open(sys.argv[2], "a").write("load " + os.environ.get("HASP_LOCK", "native") + "\\n")
connection.sendall(b"work")
print(connection.recv(100).decode())
"""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@pytest.fixture
def parts(tmp_path):
    """Return a server's command line, its load's command line, the port and the log."""
    server = make_executable(tmp_path / "server", f"#!{sys.executable}\n{SERVER}")
    load = make_executable(tmp_path / "load", f"#!{sys.executable}\n{LOAD}")
    port, log = free_port(), tmp_path / "log"
    return f"{server} {port} {log}", [load, port, log], port, log


def compare(cli, server, load, ready, *words, status=0):
    finished = cli(
        *("compare", "--locks", "mcs", "--runs", 2, "--warmup", 0, "--timeout", "8s"),
        *("--server", server, "--ready", ready, "--json", "-", *words, "--", *load),
    )
    assert finished.returncode == status, finished.stderr
    lines = [json.loads(line) for line in finished.stdout.splitlines()]
    return [line for line in lines if line["kind"] == "run"]


def test_the_server_runs_under_the_lock_and_the_load_does_not(cli, parts):
    server, load, port, log = parts
    metric = ("--metric", r"rate: (\d+)")
    runs = compare(cli, server, load, f"tcp:{port}", *metric)
    lines = log.read_text().splitlines()
    assert len(lines) == 12
    for index in range(0, 12, 3):
        assert lines[index] in ("serve mcs", "serve glibc")
        assert lines[index + 1 : index + 3] == ["load native", "stop"]
    assert lines.count("serve mcs") == lines.count("serve glibc") == 2
    for run in runs:
        assert run["figures"] == {"figure": 42}
        assert run["user_s"] + run["system_s"] >= 0.1, "the server's CPU time"
        assert run["peak_bytes"] > 80 << 20, "the server's memory"
        assert run["load_peak_bytes"] < 60 << 20


def test_a_server_that_fails_under_a_lock(cli, parts):
    server, load, port, _ = parts
    failing = f"{server} 'print(\"no luck\", file=sys.stderr); sys.exit(9)'"
    runs = compare(cli, failing, load, f"tcp:{port}", status=1)
    details = {run["detail"] for run in runs if run["lock"] == "mcs"}
    assert {run["outcome"] for run in runs if run["lock"] == "mcs"} == {"server failed"}
    assert details == {"the server ended before it was ready (exit status 9): no luck"}
    assert {run["outcome"] for run in runs if run["lock"] == "glibc"} == {"ok"}


@pytest.mark.slow
def test_a_server_that_is_never_ready_and_ignores_sigterm(cli, parts):
    server, load, port, _ = parts
    deaf = f"{server} 'signal.signal(15, signal.SIG_IGN); time.sleep(60)'"
    started = time.monotonic()
    finished = cli(
        *("compare", "--locks", "mcs", "--runs", 1, "--warmup", 0, "--timeout", "4s"),
        *("--server", deaf, "--ready", f"tcp:{port}", "--", *load),
    )
    assert finished.returncode == 1
    assert "not ready within 4 s" in finished.stdout
    assert time.monotonic() - started < 40


def test_a_server_that_daemonises_is_refused(cli, parts, script):
    _, load, port, _ = parts
    finished = cli(
        *("compare", "--server", str(script("exit 0")), "--ready", f"tcp:{port}"),
        *("--", *load),
    )
    assert finished.returncode == 2
    assert "start it in the foreground" in finished.stderr


def test_a_port_in_use(cli, parts):
    server, load, port, log = parts
    with socket.create_server(("127.0.0.1", port)):
        finished = cli(
            *("compare", "--server", server, "--ready", f"tcp:{port}", "--", *load)
        )
    assert finished.returncode == 2
    assert f"port {port} of 127.0.0.1 is in use" in finished.stderr
    assert not log.exists()


def test_ready_by_a_file(cli, script, tmp_path):
    server = script(f"sleep 0.3; {UP}")
    load = script("test -e up")
    compare(cli, server, [load], "file:up")
    Path(tmp_path / "up").touch()
    finished = cli("compare", "--server", server, "--ready", "file:up", "--", load)
    assert finished.returncode == 2
    assert "exists before the server is started" in finished.stderr


def test_ready_by_a_delay(cli, script):
    server = script("rm -f there; sleep 0.2; touch there; sleep 30")
    compare(cli, server, [script("test -e there")], "1s")


def test_threads_of_the_server(cli, script, tmp_path):
    log = tmp_path / "log"
    server = f"{script(f'echo $1 >> {log}; {UP}')} {{threads}}"
    runs = compare(cli, server, ["true"], "file:up", "--threads", "2,3")
    assert sorted(log.read_text().split()) == ["2"] * 4 + ["3"] * 4
    assert {run["threads"] for run in runs} == {2, 3}


def test_a_server_in_shell_syntax(cli, script, tmp_path):
    log = tmp_path / "log"
    compare(cli, f"echo $HASP_LOCK- >> {log}; {UP}", ["true"], "file:up")
    assert sorted(log.read_text().split()) == ["-", "-", "mcs-", "mcs-"]


def test_a_static_server_is_refused(cli, tmp_path):
    from .conftest import compile_c

    server = compile_c("int main(void) { return 0; }", tmp_path / "server", "-static")
    finished = cli("compare", "--server", server, "--ready", "1s", "--", "true")
    assert finished.returncode == 2
    assert "statically linked" in finished.stderr
