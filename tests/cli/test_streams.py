# SPDX-License-Identifier: MIT
"""Tests `hasp` with unusual streams, too little memory, and an early Ctrl-C."""

from __future__ import annotations

import subprocess
import sys

import pytest

from hasp.cli import main

HASP = f"{sys.executable} -m hasp"

# Sends SIGINT to itself when the module named by the first argument is imported.
INTERRUPTED = """
import os, runpy, signal, sys

class Interrupt:
    def find_spec(name, path=None, target=None):
        if name == trigger:
            os.kill(os.getpid(), signal.SIGINT)

trigger = sys.argv.pop(1)
sys.meta_path.insert(0, Interrupt)
runpy.run_module("hasp", run_name="__main__")
"""


@pytest.fixture
def shell(environment, tmp_path):
    """Return shell(line), which runs a line of bash and returns the result."""

    def run(line, **extra):
        return subprocess.run(
            ["bash", "-c", line],
            env={**environment, **extra},
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=50,
        )

    return run


@pytest.mark.parametrize("words", ["list", "list --json", "--help", "list --help"])
@pytest.mark.parametrize("output", [">&-", ">/dev/full"])
def test_output_that_cannot_be_written(shell, words, output):
    done = shell(f"{HASP} {words} {output}")
    assert done.returncode == 2
    assert done.stderr.startswith("hasp: ")
    assert done.stderr.count("\n") == 2


def test_all_streams_closed(shell):
    assert shell(f"{HASP} list <&- >&- 2>&-").returncode == 2


def test_a_program_finds_its_streams_closed_as_hasp_did(shell):
    probe = "'for n in 0 1; do [ -e /proc/self/fd/$n ] && echo $n >&2; done; true'"
    done = shell(f"{HASP} run -- sh -c {probe} <&- >&-")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("words", ["list", "list --json", "list --help", "doctor"])
def test_a_reader_that_has_exited(shell, words):
    """The exit status is that of any filter, 128 + SIGPIPE."""
    gone = "mkfifo pipe; (: <pipe) & exec 3>pipe; wait"
    done = shell(f"{gone}; {HASP} {words} >&3")
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize("module", ["argparse", "hasp.cli.list", "rich.table", "json"])
def test_an_early_ctrl_c(environment, tmp_path, module):
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, module, "list"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert done.stderr == ""
    assert done.returncode in (130, -2)


@pytest.mark.parametrize(
    "error", [MemoryError(), SystemError("error return without exception set")]
)
def test_an_allocation_that_fails(monkeypatch, capsys, error):
    def fails(_verb):
        raise error

    monkeypatch.setattr(main, "load", fails)
    assert main.main(["list"]) == 2
    assert "not enough memory" in capsys.readouterr().err


def test_too_little_memory(shell):
    """Where memory runs out, the error is a message, not a traceback.

    At a few limits CPython itself aborts or raises some other error.
    """
    refused, other = 0, []
    for kilobytes in range(14_000, 40_000, 1_000):
        limit = f"ulimit -v {kilobytes}"
        if shell(f"{limit}; {sys.executable} -c 'import argparse, json'").returncode:
            continue  # Python itself does not start
        done = shell(f"{limit}; {HASP} list")
        if done.returncode == 0:
            break
        refused += 1
        if done.returncode != 2 or "Traceback" in done.stderr:
            other.append(done.stderr)
    assert refused
    assert len(other) <= refused / 3, other


@pytest.mark.parametrize("text", ["[" * 9000 + "]" * 9000, "a" + ".a" * 9000])
def test_toml_that_is_nested_too_deeply(cli, tmp_path, text):
    (tmp_path / "deep.toml").write_text(text if text[0] == "a" else f"a = {text}")
    done = cli("run", "--plan", "deep.toml", "--", "true")
    assert done.returncode == 2
    assert "deep.toml" in done.stderr
    assert "Traceback" not in done.stderr


def test_control_characters_in_names_are_escaped(cli):
    done = cli("run", "--", "no\033[31m\rsuch")
    assert done.returncode == 2
    assert "no\\x1b[31m\\rsuch" in done.stderr
    assert "\033" not in done.stderr


@pytest.mark.parametrize("words", ["list", "--help", "doctor", "list mcs"])
def test_output_in_ascii(cli, words):
    done = cli(*words.split(), PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert "\\u" not in done.stdout


@pytest.mark.parametrize("shell_name", ["bash", "zsh", "fish"])
def test_completion_scripts_contain_verbs_options_and_locks(cli, shell_name):
    done = cli("completion", shell_name)
    assert (done.returncode, done.stderr) == (0, "")
    for word in ("profile", "plan", "mcs-park"):
        assert word in done.stdout


def test_completion_in_bash(shell):
    line = (
        f'eval "$({HASP} completion bash)"; COMP_WORDS=(hasp run --lock mc); '
        "COMP_CWORD=3; COMP_LINE='hasp run --lock mc'; COMP_POINT=${#COMP_LINE}; "
        '$(complete -p hasp | sed "s/.*-F \\([^ ]*\\).*/\\1/") hasp mc --lock; '
        'echo "${COMPREPLY[@]}"'
    )
    assert shell(line).stdout.split() == ["mcs", "mcs-park"]
