# SPDX-License-Identifier: MIT
"""Lock elision on a machine without transactions: emulated ones, and none.

Emulated sections acquire the lock after all, so these tests cover the outcomes of
transactions, but neither their isolation nor their speed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from lock_list import records, representatives
from preload import matrix

pytestmark = pytest.mark.timeout(2 * matrix.TIME_LIMIT + 60)

# One lock of each structure, elided; the others in `make test-all`.
ELIDED = [
    pytest.param(
        matrix.Lock(f"elide+{record['name']}", parks=record["parks"]),
        id=record["name"],
        marks=[] if record["name"] in representatives() else [pytest.mark.slow],
    )
    for record in records()
    if record["name"] != "glibc"
]
FUTEX = matrix.Lock("elide+futex")

# Programs whose threads wait, time out, fork, are cancelled and end.
PROGRAMS = ("cond_queue", "cond_timed", "exclusion", "fork_cond", "kinds", "timed")


class Run:
    """Runs cases of the program `elision` under a script and reads the counts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(
        self,
        case: str,
        script: str = "commit",
        options: str = "",
        lock: matrix.Lock = FUTEX,
    ) -> dict[str, Any]:
        (self.folder / "script").write_text(script + "\n")
        counts = self.folder / "counts"
        counts.unlink(missing_ok=True)
        extra = {
            "HASP_ELISION": f"script:{self.folder / 'script'}",
            "HASP_ELISION_OPTIONS": options,
            "HASP_ELISION_STATISTICS": str(counts),
        }
        outcome = matrix.run_case("elision", case, lock, extra)
        assert outcome.status == "passed", outcome
        found: dict[str, Any] = json.loads(counts.read_text().splitlines()[-1])
        assert found["emulated"]
        check_sums(found)
        return found


def check_sums(counts: dict[str, Any]) -> None:
    assert counts["begins"] == counts["commits"] + sum(counts["aborts"].values())
    assert counts["commits"] == sum(counts["committed_after"]) == sum(counts["levels"])
    levels = enumerate(counts["levels"], start=1)
    assert counts["elided"] == sum(depth * count for depth, count in levels)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


@pytest.mark.parametrize("lock", ELIDED)
@pytest.mark.parametrize("trylock", ["abort", "nest"])
def test_every_case_under_every_lock(
    lock: matrix.Lock, trylock: str, tmp_path: Path
) -> None:
    counts = tmp_path / "counts"
    extra = {
        "HASP_ELISION": "seed:7",
        "HASP_ELISION_OPTIONS": f"trylock={trylock}",
        "HASP_ELISION_STATISTICS": str(counts),
    }
    outcomes = matrix.run_program("elision", lock, extra)
    matrix.fail_if_any(outcomes, f"elision under {lock.label}", matrix.NOT_PASSED)
    for line in counts.read_text().splitlines():
        check_sums(json.loads(line))


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("lock", ELIDED)
@pytest.mark.slow
def test_other_programs(program: str, lock: matrix.Lock) -> None:
    outcomes = matrix.run_program(program, lock, {"HASP_ELISION": "seed:11"})
    matrix.fail_if_any(outcomes, f"{program} under {lock.label}")


@pytest.mark.parametrize("program", ["cond_timed", "fork_cond"])
def test_programs_under_the_default(program: str) -> None:
    outcomes = matrix.run_program(program, FUTEX, {"HASP_ELISION": "seed:11"})
    matrix.fail_if_any(outcomes, f"{program} under {FUTEX.label}")


def test_sections_commit(run: Run) -> None:
    counts = run("sections")
    assert (counts["begins"], counts["commits"], counts["acquired"]) == (10, 10, 0)


def test_three_attempts_while_the_processor_recommends_another(run: Run) -> None:
    counts = run("sections", "conflict+retry 29\ncommit")
    # Nine sections give up after three attempts; the last one commits after two.
    assert counts["aborts"]["conflict"] == 29
    assert counts["acquired"] == 9
    assert counts["committed_after"][2] == 1
    assert counts["skipped"] == 0


def test_a_hopeless_abort_skips_three_acquisitions(run: Run) -> None:
    counts = run("sections", "capacity\ncommit 100", "sites=0")
    assert counts["aborts"]["capacity"] == 1
    assert (counts["acquired"], counts["skipped"]) == (4, 3)
    assert counts["commits"] == 6


def test_a_site_whose_sections_fail_is_left_alone_for_longer(run: Run) -> None:
    counts = run("sections", "zero", "skip=1")
    # Aborts at the sections 0, 3 and 8: each skips one acquisition of the lock, and
    # then one, two and four calls from this site.
    assert counts["begins"] == 3
    assert (counts["acquired"], counts["skipped"]) == (10, 7)


def test_a_held_lock_is_waited_for_and_tried_again(run: Run) -> None:
    counts = run("sections", "busy 2\ncommit 100")
    assert counts["aborts"]["busy"] == 2
    assert counts["committed_after"][2] == 1
    assert counts["skipped"] == 0


def test_nested_sections_commit_together(run: Run) -> None:
    counts = run("nested")
    assert (counts["begins"], counts["commits"], counts["elided"]) == (1, 1, 3)


def test_an_abort_in_an_inner_section_is_not_repeated_there(run: Run) -> None:
    script = "commit 2\ncapacity\ncommit 100"
    counts = run("nested", script)
    assert (counts["begins"], counts["nested_aborts"]) == (1, 1)
    nested = run("nested", "conflict+nested\ncommit 100")
    assert (nested["begins"], nested["guarded"]) == (1, 2)
    cascade = run("nested", "conflict+nested\ncommit 100", "guard=0,sites=0")
    assert (cascade["begins"], cascade["guarded"]) == (2, 0)


def test_sections_deeper_than_a_thread_can_elide(run: Run) -> None:
    counts = run("deep")
    assert counts["levels"][-1] == 1


@pytest.mark.parametrize(
    ("options", "aborts", "levels"), [("", 1, 0), ("trylock=nest", 0, 1)]
)
def test_trylock_in_a_section(run: Run, options: str, aborts: int, levels: int) -> None:
    counts = run("trylock_inside", options=options)
    assert counts["aborts"]["trylock"] == aborts
    assert counts["levels"][1] == levels


def test_a_lock_that_the_thread_elides_is_held_for_itself(run: Run) -> None:
    assert run("trylock_again", options="trylock=nest")["commits"] == 2
    assert run("lock_again", options="trylock=nest")["aborts"]["explicit"] == 1


def test_a_condition_wait_aborts(run: Run) -> None:
    counts = run("wait_inside")
    assert counts["aborts"]["wait"] == 1
    assert run("wait_nested")["nested_aborts"] == 1


def test_mutexes_with_an_owner_are_not_elided(run: Run) -> None:
    for case in ("recursive", "error_checking"):
        assert run(case)["elided"] == 1


def run_outside(*command: str, **settings: str) -> subprocess.CompletedProcess[str]:
    env = matrix.environment(FUTEX, settings)
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


PROGRAM = str(matrix.PROGRAMS / "elision")
MESSAGE = "elide+futex runs as futex"


def has_transactions() -> bool:
    return " rtm " in Path("/proc/cpuinfo").read_text()


@pytest.mark.skipif(has_transactions(), reason="this machine has transactions")
def test_without_hardware_it_says_so_once() -> None:
    # The children inherit the environment in which the first process noted it.
    shell = f"{PROGRAM} sections && {PROGRAM} nested"
    done = run_outside("sh", "-c", shell, HASP_ELISION_NOTE="1")
    assert (done.returncode, done.stderr.count(MESSAGE)) == (0, 1), done.stderr
    assert done.stdout == ""


def test_never_is_silent_and_complete() -> None:
    outcomes = matrix.run_program("elision", FUTEX, {"HASP_ELISION": "never"})
    matrix.fail_if_any(outcomes, "elision without transactions")
    done = run_outside(PROGRAM, "sections", HASP_ELISION="never")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        ("commit\nconflct\n", "line 2: unknown outcome of a transaction: conflct"),
        ("conflict+rety", "line 1: unknown outcome of a transaction: conflict+rety"),
        ("explicit:256", "line 1: unknown outcome of a transaction: explicit:256"),
        ("# first\n\ncommit x", "line 3: not a number from 1 to 1000000: x"),
        ("commit 2 3", "line 1: nothing may follow the number: 3"),
        ("commit -18446744073709551615", "line 1: not a number from 1 to 1000000: -1"),
        ("explicit:+1", "line 1: unknown outcome of a transaction: explicit:+1"),
        ("# nothing", "the script has no outcome"),
        ("commit\n\0capacity\n", "the script contains a zero byte"),
    ],
)
def test_a_wrong_script_is_refused(script: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "script"
    path.write_text(script)
    setting = f"script:{path}"
    done = run_outside(PROGRAM, "sections", HASP_ELISION=setting)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert str(path) in done.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HASP_ELISION", "sometimes"),
        ("HASP_ELISION", "seed:0"),
        ("HASP_ELISION", "seed:-18446744073709551615"),
        ("HASP_ELISION", "script:/nonexistent"),
        ("HASP_ELISION", "script:/"),
        ("HASP_ELISION_OPTIONS", "tries=0"),
        ("HASP_ELISION_OPTIONS", "tries= 3"),
        ("HASP_ELISION_OPTIONS", "skip=-18446744073709551615"),
        ("HASP_ELISION_OPTIONS", "trylock=nestle"),
        ("HASP_ELISION_OPTIONS", "tries=3;skip=1"),
    ],
)
def test_a_wrong_setting_is_refused(name: str, value: str) -> None:
    done = run_outside(PROGRAM, "sections", **{name: value})
    assert done.returncode == 2
    assert name in done.stderr


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is missing")
@pytest.mark.parametrize("setting", ["never", "script"])
def test_uncontended_sections_make_no_system_call(setting: str, tmp_path: Path) -> None:
    """The number of calls does not depend on the number of sections."""
    source, program = tmp_path / "pairs.c", tmp_path / "pairs"
    source.write_text(PAIRS)
    subprocess.run(["cc", "-pthread", "-o", program, source], check=True)
    script = tmp_path / "script"
    script.write_text("conflict+retry 2\ncommit\ncapacity\ncommit 3\n")
    value = f"script:{script}" if setting == "script" else setting
    calls = []
    for count in ("10", "2000"):
        trace = tmp_path / "trace"
        run_outside(
            *("strace", "-f", "-o", str(trace), "-E", f"LD_PRELOAD={matrix.library()}"),
            *("-E", "HASP_LOCK=elide+futex", "-E", f"HASP_ELISION={value}"),
            *("env", "--", str(program), count),
        ).check_returncode()
        lines = trace.read_text().splitlines()
        calls.append(sum(line.count(" futex(") for line in lines))
    assert calls[0] == calls[1]


PAIRS = """
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int main(int count, char **words)
{
    for (long i = atol(words[count - 1]); i; i--) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    return 0;
}
"""


def test_elided_locks_under_the_recorder() -> None:
    recorder = matrix.library().parent / "profile" / "libhasp-profile.so"
    extra = {"HASP_ELISION": "seed:3", "LD_PRELOAD": str(matrix.library())}
    outcome = matrix.run_case("elision", "exclusion", FUTEX, extra, interposer=recorder)
    assert outcome.status == "passed", outcome


def emulator_of(name: str) -> list[str]:
    preload, lock = f"LD_PRELOAD={matrix.library()}", f"HASP_LOCK={FUTEX.name}"
    if name == "qemu-x86_64":
        return [name, "-cpu", "max", "-E", preload, "-E", lock]
    return ["env", preload, lock, name, "--tool=none", "-q"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["qemu-x86_64", "valgrind"])
@pytest.mark.parametrize("case", matrix.cases("elision"))
def test_emulators_whose_transactions_always_abort(name: str, case: str) -> None:
    """Both abort each transaction, as some virtual machines do; qemu lacks XTEST."""
    if shutil.which(name) is None or os.uname().machine != "x86_64":
        pytest.skip(f"{name} is missing, or not for this processor")
    command = [*emulator_of(name), matrix.PROGRAMS / "elision", case]
    env = matrix.environment(matrix.NATIVE, {"CHECK_ROUNDS_DIVISOR": "10"})
    status, text = matrix.run_command(command, env)
    assert status == 0, text
    assert text.count(MESSAGE) >= 1
