# SPDX-License-Identifier: MIT
"""With `hasp run`, the program replaces Hasp, and has the lock in its environment."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .conftest import RUN_HASP, compile_c


def library(path: Path, *options: str) -> Path:
    """Return the path of an empty shared library."""
    return compile_c("", path, "-shared", *options)


def show(cli, *words, **extra):
    """Return LD_PRELOAD, HASP_LOCK and HASP_PARK_NS as seen by the program."""
    line = "echo ${LD_PRELOAD-unset}/${HASP_LOCK-unset}/${HASP_PARK_NS-unset}"
    finished = cli("run", *words, "--", "sh", "-c", line, **extra)
    assert finished.returncode == 0, finished.stderr
    assert finished.stderr == ""
    preload, lock, park = finished.stdout.strip().rsplit("/", 2)
    return preload, lock, park


def test_preloads_the_library_and_names_the_lock(cli, stand_in):
    assert show(cli, "--lock", "mcs") == (f"{stand_in}/libhasp.so", "mcs", "unset")


def test_the_default_lock(cli):
    assert show(cli)[1] == "futex"


def test_an_alias_selects_its_lock(cli):
    assert show(cli, "--lock=mcs_stp")[1] == "mcs-park"


def test_glibc_runs_natively(cli):
    assert show(cli, "--lock", "glibc") == ("unset", "unset", "unset")
    assert show(cli, "--lock", "pthread") == ("unset", "unset", "unset")


def test_glibc_inside_a_run_is_native_again(cli, stand_in, tmp_path):
    other = library(tmp_path / "libother.so")
    preload = f"{other} {stand_in}/libhasp.so"
    seen = show(cli, "--lock", "glibc", LD_PRELOAD=preload, HASP_LOCK="mcs")
    assert seen == (str(other), "unset", "unset")


def test_an_existing_preload_is_kept_after_hasps_library(cli, stand_in, tmp_path):
    other = library(tmp_path / "libother.so")
    preload, _, _ = show(cli, "--lock", "mcs", LD_PRELOAD=str(other))
    assert preload == f"{stand_in}/libhasp.so:{other}"


@pytest.mark.parametrize("name", ["libtsan.so.2", "libasan.so.8"])
def test_a_sanitizer_stays_before_hasps_library(cli, stand_in, tmp_path, name):
    sanitizer = library(tmp_path / name)
    preload, _, _ = show(cli, "--lock", "mcs", LD_PRELOAD=str(sanitizer))
    assert preload == f"{sanitizer}:{stand_in}/libhasp.so"


def test_a_needed_sanitizer_is_put_first(cli, stand_in, tmp_path):
    sanitizer = library(tmp_path / "libtsan.so.9", "-Wl,-soname,libtsan.so.9")
    source = "#include <stdio.h>\n#include <stdlib.h>\n"
    source += 'int main(void) { puts(getenv("LD_PRELOAD")); }\n'
    link = ("-Wl,--no-as-needed", "-L.", f"-Wl,-rpath,{tmp_path}", "-xnone")
    program = compile_c(source, tmp_path / "program", *link, str(sanitizer))
    finished = cli("run", "--lock", "mcs", "--", program)
    assert finished.stdout.strip() == f"{sanitizer}:{stand_in}/libhasp.so"


def test_children_follow(cli, tmp_path):
    log = tmp_path / "log"
    line = "/bin/true; /usr/bin/env true"
    cli("run", "--lock", "mcs", "--", "sh", "-c", line, STAND_IN_LOG=str(log))
    assert log.read_text().splitlines() == ["sh mcs", "true mcs", "env mcs", "true mcs"]


def test_status_and_streams_are_the_programs(cli, environment):
    finished = cli("run", "--", "sh", "-c", "echo out; echo err >&2; exit 37")
    assert (finished.returncode, finished.stdout, finished.stderr) == (
        37,
        "out\n",
        "err\n",
    )
    piped = subprocess.run(
        [sys.executable, "-c", RUN_HASP, "run", "--", "rev"],
        input="padlock\n",
        env=environment,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert piped.stdout == "kcoldap\n"


def test_it_is_the_same_process(environment):
    process = subprocess.Popen(
        [sys.executable, "-c", RUN_HASP, "run", "--", "sh", "-c", "echo $$"],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    output, _ = process.communicate(timeout=30)
    assert int(output) == process.pid


def test_a_signal_ends_the_program_itself(environment):
    process = subprocess.Popen(
        [sys.executable, "-c", RUN_HASP, "run", "--", "sleep", "30"], env=environment
    )
    deadline = time.monotonic() + 20
    while Path(f"/proc/{process.pid}/comm").read_text() != "sleep\n":
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == -signal.SIGINT


def test_signal_dispositions_are_as_usual(cli):
    finished = cli("run", "--", "grep", "SigIgn", "/proc/self/status")
    assert int(finished.stdout.split()[1], 16) & (1 << (signal.SIGPIPE - 1)) == 0


def test_the_rest_of_the_environment_is_unchanged(environment, tmp_path):
    # In the C locale, Python sets LC_CTYPE, which the program must not inherit.
    plain = {name: environment[name] for name in ("HASP_NATIVE_DIR", "XDG_CACHE_HOME")}
    plain |= {"PATH": os.environ["PATH"], "LC_ALL": ""}
    plain |= {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    finished = subprocess.run(
        [sys.executable, "-c", RUN_HASP, "run", "--lock", "mcs", "--", "env", "-0"],
        env=plain,
        capture_output=True,
        text=True,
        timeout=30,
    )
    seen = dict(entry.split("=", 1) for entry in finished.stdout.split("\0") if entry)
    assert seen.keys() - plain.keys() == {"LD_PRELOAD", "HASP_LOCK"}
    assert all(seen[name] == value for name, value in plain.items())


def test_the_command_may_follow_without_dashes(cli):
    assert cli("run", "--lock", "mcs", "sh", "-c", "echo $HASP_LOCK").stdout == "mcs\n"
    assert cli("run", "echo", "--lock", "x").stdout == "--lock x\n"


def test_options_of_the_command_are_passed_to_it(cli):
    assert cli("run", "--", "echo", "a", "--", "b").stdout == "a -- b\n"
    assert cli("run", "echo", "a", "--", "b").stdout == "a -- b\n"


@pytest.mark.parametrize(
    "line",
    ["#!/bin/sh", "#! /bin/sh -e", "#!/usr/bin/env sh", "#!/usr/bin/env -S sh -e"],
)
def test_scripts(cli, tmp_path, line):
    path = tmp_path / "job"
    path.write_text(f"{line}\necho $HASP_LOCK $1\n")
    path.chmod(0o755)
    assert cli("run", "--lock", "mcs", "--", path, "word").stdout == "mcs word\n"


def test_relative_paths_are_kept(cli, tmp_path):
    (tmp_path / "job").write_text("#!/bin/sh\necho $HASP_LOCK $0\n")
    (tmp_path / "job").chmod(0o755)
    compile_c('int main() { __builtin_puts("ran"); }', tmp_path / "program")
    run = ("run", "--lock", "mcs", "--")
    assert cli(*run, "./job").stdout == "mcs ./job\n"
    assert cli(*run, "./program").stdout == "ran\n"
    assert cli(*run, "../" + tmp_path.name + "/program").stdout == "ran\n"
    for path in (".:/bin", ":/bin", "/nowhere:./:/bin"):
        assert cli(*run, "program", PATH=path).stdout == "ran\n"
    assert cli("run", "--lock", "glibc", "--", "./job").stdout == "./job\n"


def test_folders_of_path_that_cannot_be_searched_are_skipped(cli, tmp_path):
    # A name that is too long fails for root, too, unlike a folder without permission.
    path = f"/{'x' * 300}:{tmp_path}:/bin"
    compile_c('int main() { __builtin_puts("ran"); }', tmp_path / "program")
    assert cli("run", "--lock", "mcs", "--", "program", PATH=path).stdout == "ran\n"


def test_calibration_is_measured_once(cli, tmp_path):
    log = tmp_path / "calibrations"
    for _ in range(3):
        assert show(cli, "--lock", "mcs-park", CALIBRATIONS=str(log))[2] == "4321"
    assert log.read_text() == "run\n"


def test_calibration_of_the_user_wins(cli, tmp_path):
    log = tmp_path / "calibrations"
    seen = show(cli, "--lock", "mcs-park", HASP_PARK_NS="99", CALIBRATIONS=str(log))
    assert seen[2] == "99"
    assert not log.exists()


@pytest.mark.parametrize("cache", ["broken", "folder", "file"])
def test_an_unusable_cache_does_no_harm(cli, tmp_path, cache):
    place = tmp_path / "place"
    if cache == "broken":
        (place / "hasp").mkdir(parents=True)
        (place / "hasp" / "calibration.json").write_text("{not json")
    elif cache == "folder":
        (place / "hasp" / "calibration.json").mkdir(parents=True)
    else:
        place.write_text("not a folder")
    seen = show(cli, "--lock", "mcs-park", XDG_CACHE_HOME=str(place), TMPDIR=str(place))
    assert seen[2] == "4321"


def test_the_cache_is_never_in_the_current_folder(cli, tmp_path):
    place = {"XDG_CACHE_HOME": "x", "HOME": "x", "TMPDIR": str(tmp_path / "place")}
    (tmp_path / "place").mkdir()
    for _ in range(2):
        assert show(cli, "--lock", "mcs-park", **place)[2] == "4321"
    assert [path.name for path in tmp_path.iterdir()] == ["place"]
    assert len(list((tmp_path / "place").iterdir())) == 1


@pytest.mark.parametrize("body", ["exit 1", "echo nonsense", "sleep 20", "kill -9 $$"])
def test_a_failing_calibration_does_no_harm(cli, stand_in, tmp_path, body):
    broken = tmp_path / "native"
    broken.mkdir()
    for name in ("libhasp.so", "hasp-locks"):
        (broken / name).symlink_to(stand_in / name)
    program = broken / "hasp-calibrate"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    _, lock, park = show(cli, "--lock", "mcs-park", HASP_NATIVE_DIR=str(broken))
    assert (lock, park) == ("mcs-park", "unset")


def test_a_library_path_with_a_space_or_a_colon(cli, stand_in, tmp_path):
    folder = tmp_path / "my projects: locks"
    folder.mkdir()
    for path in stand_in.iterdir():
        (folder / path.name).symlink_to(path)
    log = tmp_path / "log"
    finished = cli(
        "run",
        "--lock",
        "mcs",
        "--",
        "true",
        HASP_NATIVE_DIR=str(folder),
        STAND_IN_LOG=str(log),
    )
    assert finished.returncode == 0
    assert finished.stderr == ""
    assert log.read_text() == "true mcs\n"


def test_it_starts_fast_and_light(environment):
    line = (
        "import os, sys, json; from hasp.cli.main import main\n"
        "def say(*words):\n"
        "    print(json.dumps(sorted(sys.modules)), flush=True); os._exit(0)\n"
        "os.execve = say; main()"
    )
    finished = subprocess.run(
        [sys.executable, "-c", line, "run", "--lock", "mcs", "--", "true"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=30,
    )
    modules = set(json.loads(finished.stdout))
    heavy = {"numpy", "scipy", "matplotlib", "rich", "psutil", "elftools", "subprocess"}
    assert not modules & heavy
