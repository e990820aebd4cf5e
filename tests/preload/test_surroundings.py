# SPDX-License-Identifier: MIT
"""Hasp works with a program's allocator, other preloads, settings and streams."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from preload import matrix
from preload.matrix import Lock

pytestmark = pytest.mark.timeout(3 * matrix.TIME_LIMIT + 60)

# Maps a library's name to a symbol that only it has, which proves that it was loaded.
ALLOCATORS = {"libjemalloc.so.2": "malloc_stats_print", "libmimalloc.so": "mi_malloc"}


def each_lock(*, native: bool, every: bool = False) -> pytest.MarkDecorator:
    parameters = matrix.lock_parameters(native=native, every=every)
    return pytest.mark.parametrize("lock", parameters)


def find_library(name: str) -> str:
    """Return the path of a shared library in the usual folders."""
    folders = [Path("/usr/lib"), Path("/usr/lib64"), Path("/usr/local/lib")]
    found = [path for folder in folders for path in sorted(folder.glob(f"*/{name}*"))]
    found += [path for folder in folders for path in sorted(folder.glob(f"{name}*"))]
    if not found:
        pytest.skip(f"{name} is not installed")
    return str(found[0])


def check_all(outcomes: list[matrix.Outcome], *, allow_skips: bool = True) -> None:
    good = {"passed", "skipped"} if allow_skips else {"passed"}
    bad = [outcome for outcome in outcomes if outcome.status not in good]
    if bad:
        pytest.fail("\n".join(map(str, bad)), pytrace=False)


@pytest.mark.parametrize("hasp_first", [True, False], ids=["hasp-first", "hasp-last"])
@pytest.mark.parametrize("allocator", ALLOCATORS)
@each_lock(native=True)
def test_malloc_replaced(lock: Lock, allocator: str, hasp_first: bool) -> None:
    if lock is matrix.NATIVE and not hasp_first:
        pytest.skip("without Hasp there is only one order")
    library = find_library(allocator)
    extra = {"LD_PRELOAD": library, "CHECK_ALLOCATOR_SYMBOL": ALLOCATORS[allocator]}
    outcomes = []
    for case in matrix.cases("allocator"):
        env = matrix.environment(lock, extra)
        if not hasp_first:
            env["LD_PRELOAD"] = f"{library}:{matrix.library()}"
        status, text = matrix.run_command([matrix.PROGRAMS / "allocator", case], env)
        ending = {0: "passed", None: "hung"}.get(status, "failed")
        outcomes.append(matrix.Outcome(case, ending, f"exit status {status}\n{text}"))
        if ending == "hung":
            break
    check_all(outcomes, allow_skips=False)


@each_lock(native=False)
def test_preload_already_set(lock: Lock) -> None:
    """A library that is already preloaded stays preloaded and keeps working."""
    other = find_library("libjemalloc.so.2")
    wanted = {"CHECK_ALLOCATOR_SYMBOL": ALLOCATORS["libjemalloc.so.2"]}
    outcomes = [
        matrix.run_case(program, case, lock, {"LD_PRELOAD": other, **wanted})
        for program, case in [
            ("allocator", "is_replaced"),
            ("exclusion", "every_way_in"),
            ("cond_queue", "broadcast_many"),
        ]
    ]
    check_all(outcomes, allow_skips=False)


def text_file(folder: Path) -> Path:
    """Return a file of a few megabytes that compresses moderately well."""
    path = folder / "text"
    path.write_text("".join(f"{i * i} {i:x}\n" for i in range(150_000)))
    return path


@each_lock(native=True)
def test_standard_output_is_untouched(lock: Lock, tmp_path: Path) -> None:
    """With Hasp, a filter writes exactly the same output as without."""
    if shutil.which("pigz") is None:
        pytest.skip("pigz is not installed")
    path = text_file(tmp_path)
    env = matrix.environment(lock, {"HASP_VERBOSE": "1"})
    command = ["pigz", "-c", "-p", "4", "-b", "128", str(path)]
    packed = subprocess.run(command, env=env, capture_output=True, timeout=50)
    assert packed.returncode == 0
    assert gzip.decompress(packed.stdout) == path.read_bytes()
    unpacked = subprocess.run(
        ["pigz", "-d", "-c"],
        env=env,
        input=packed.stdout,
        capture_output=True,
        timeout=50,
    )
    assert unpacked.returncode == 0
    assert unpacked.stdout == path.read_bytes()


@each_lock(native=False)
def test_silent_unless_asked(lock: Lock) -> None:
    command = ["sh", "-c", "echo out; echo err >&2"]
    quiet = subprocess.run(command, env=matrix.environment(lock), capture_output=True)
    assert (quiet.stdout, quiet.stderr) == (b"out\n", b"err\n")
    env = matrix.environment(lock, {"HASP_VERBOSE": "1"})
    verbose = subprocess.run(command, env=env, capture_output=True, text=True)
    assert verbose.stdout == "out\n"
    said = rf"hasp: lock={re.escape(lock.name)} bias=(on|off) pid=\d+\n"
    assert re.match(said, verbose.stderr)


@pytest.mark.parametrize("name", ["no-such-lock", "mc", "futexx", "MCS "])
def test_unknown_lock(name: str) -> None:
    env = matrix.environment(Lock(name))
    result = subprocess.run(["/bin/true"], env=env, capture_output=True, text=True)
    assert result.returncode == 2
    assert result.stdout == ""
    assert name in result.stderr


@pytest.mark.parametrize(
    "alias", ["mcs_spin", "mcs_stp", "clh_spin", "clh_stp", "malth_stp"]
)
def test_names_from_the_literature_are_accepted(alias: str) -> None:
    check_all([matrix.run_case("exclusion", "four_threads", Lock(alias, parks=False))])


def test_default_lock() -> None:
    """With HASP_LOCK unset or empty, the library uses the default."""
    env = matrix.environment(Lock("futex"), {"HASP_VERBOSE": "1"})
    for change in ({}, {"HASP_LOCK": ""}):
        env.pop("HASP_LOCK", None)
        env.update(change)
        result = subprocess.run(["/bin/true"], env=env, capture_output=True, text=True)
        assert result.returncode == 0
        assert "lock=futex " in result.stderr


def test_bias_can_be_switched_off() -> None:
    lock = Lock("futex")
    extra = {"HASP_VERBOSE": "1", "HASP_BIAS": "0"}
    for program in ("exclusion", "timed_queue", "lifetime"):
        outcomes = matrix.run_program(program, lock, extra)
        check_all(outcomes)
        assert all("bias=off" in outcome.text for outcome in outcomes)


@pytest.mark.parametrize(
    "setting",
    [
        {"HASP_PARK_NS": "0"},
        {"HASP_PARK_NS": "999999999999"},
        {"HASP_PARK_NS": "many"},
        {"HASP_PARK_NS": ""},
        {"HASP_TOPOLOGY": "2x4"},
        {"HASP_TOPOLOGY": "0x0"},
        {"HASP_TOPOLOGY": "nonsense"},
        {"HASP_COHORTS": "cache"},
        {"HASP_COHORTS": "nonsense"},
        {"HASP_BIAS": "2"},
        {"HASP_VERBOSE": ""},
    ],
    ids=lambda setting: "-".join(*setting.items()),
)
@pytest.mark.parametrize("name", ["futex", "mcs-park"])
def test_strange_settings(name: str, setting: dict[str, str]) -> None:
    """The program's locks work whatever the value of a setting is."""
    lock = Lock(name)
    check_all([matrix.run_case("exclusion", "four_threads", lock, setting)])
    check_all([matrix.run_case("cond_wakeups", "ping_pong", lock, setting)])


@each_lock(native=False)
def test_children_follow(lock: Lock) -> None:
    """A program that another program starts runs under the same lock."""
    env = matrix.environment(lock, {"HASP_VERBOSE": "1"})
    command = ["sh", "-c", "sh -c /bin/true; exec env true"]
    result = subprocess.run(command, env=env, capture_output=True, text=True)
    assert result.returncode == 0
    # The processes are the shells, /bin/true, env and true; some shells start one
    # fewer.
    assert result.stderr.count(f"hasp: lock={lock.name} ") >= 4


@each_lock(native=False)
def test_status_and_signals_are_the_programs(lock: Lock) -> None:
    env = matrix.environment(lock)
    assert subprocess.run(["sh", "-c", "exit 37"], env=env).returncode == 37
    killed = subprocess.run(["sh", "-c", "kill -TERM $$"], env=env)
    assert killed.returncode == -15


def test_exports_no_stray_names() -> None:
    """An exported name could shadow a function of the program."""
    output = subprocess.run(
        ["nm", "-D", "--defined-only", matrix.library()],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "LC_ALL": "C"},
    ).stdout
    symbols = [line.split() for line in output.splitlines()]
    # Absolute symbols are the names of versions.
    names = {name.split("@")[0] for *_, kind, name in symbols if kind != "A"}
    prefixes = ("pthread_", "__pthread_", "mtx_", "cnd_", "hasp_")
    single = {"dlopen", "prctl", "syscall", "_Fork", "call_once", "fork", "vfork"}
    stray = {name for name in names if not name.startswith(prefixes)} - single
    assert stray == set()
