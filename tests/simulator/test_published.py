# SPDX-License-Identifier: MIT
"""The published forms of locks ensure mutual exclusion, and queue locks are fair."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lock_list import ROOT

from hasp.lab.simulate.validation.distances import ALL
from hasp.lab.simulate.validation.lock_sets import (
    INTERPOSED,
    Form,
    locks_of,
    study_lock,
)
from hasp.predict.validation.published import FORMS as STUDY_FORMS

LIST = (ROOT / "src/bench/published/list.c").read_text()


def listed(macro: str) -> list[tuple[str, bool]]:
    """Return the names of the forms in that list, and whether each has a trylock."""
    text = LIST[LIST.index(f"#define {macro}(FORM)") :].partition("\n\n")[0]
    found = re.findall(r'FORM\(\w+, "([^"]+)", \w+,\s*(\w+),', text.replace("\\", ""))
    assert len(found) == text.count("FORM(")
    return [(name, trylock == "HAS_TRYLOCK") for name, trylock in found]


STUDY = [(f"litl-{name}", tries) for name, tries in listed("STUDY")]
LISTED = [*listed("FORMS"), *STUDY]
FORMS = [name for name, _ in LISTED]
QUEUES = [
    name
    for name in FORMS
    if re.fullmatch(r"(litl-)?(ticket|alock|mcs|clh|twa|hapax|partitioned).*", name)
]
SHORT = ("--warm-up-ns=50000", "--duration-ns=300000")


@pytest.fixture(scope="session")
def published(build_dir: Path, opteron: Path) -> Callable[..., dict[str, Any]]:
    """Return published(*arguments), which returns a run's record on the Opteron."""
    program = str(next(build_dir.rglob("hasp-simulate-published")))

    def run(*arguments: str, machine: Path = opteron) -> dict[str, Any]:
        completed = subprocess.run(
            [program, f"--machine={machine}", "--timeout=50", *SHORT, *arguments],
            capture_output=True,
            text=True,
        )
        assert (completed.returncode, completed.stderr) == (0, "")
        record: dict[str, Any] = json.loads(completed.stdout)
        return record

    return run


@pytest.fixture(scope="session")
def a64(flatten: Callable[..., Path]) -> Path:
    """Return the lock study's machine, whose futexes have buckets in the kernel."""
    return flatten("a-64")


@pytest.fixture(scope="session")
def two_cpus(flatten: Callable[..., Path]) -> Path:
    return flatten(str(ROOT / "docs/studies/two-cpus/machine.toml"))


# The program itself checks mutual exclusion.
@pytest.mark.parametrize("workload", ["n-locks:3", "one-lock", "oversubscribed"])
@pytest.mark.parametrize("form", FORMS)
def test_a_published_form_ensures_mutual_exclusion(
    published: Callable[..., dict[str, Any]], form: str, workload: str
) -> None:
    arguments = ("jitter_percent=30", f"--lock={form}", f"--workload={workload}")
    cpus = ("--cpus=0-5,10-15,47,42,20,30",) if workload != "oversubscribed" else ()
    record = published(*arguments, "--threads=16", *cpus)
    assert record["operations"] > 16
    if form in QUEUES and workload == "one-lock":
        assert record["jain_fairness"] > 0.9


def test_a_published_form_acquires_a_free_lock_by_trylock(
    published: Callable[..., dict[str, Any]],
) -> None:
    for form in (name for name, tries in LISTED if tries):
        words = ("--workload=uncontended", "trylock=1", f"--lock={form}", "--threads=2")
        assert published(*words)["operations"] > 0


@pytest.mark.parametrize("workload", ["global-table", "barrier"])
@pytest.mark.parametrize("form", [name for name, tries in LISTED if tries])
def test_a_published_form_excludes_threads_that_acquire_it_by_trylock(
    published: Callable[..., dict[str, Any]], form: str, workload: str
) -> None:
    """All of them do, or those that leave a barrier, while others lock it."""
    tries = "trylock=1" if workload == "global-table" else "watch=1"
    words = (f"--workload={workload}", f"--lock={form}", "--threads=8", tries)
    assert published(*words, "--duration-ns=100000")["threads"] == 8


@pytest.mark.parametrize("form", [name for name, _ in STUDY])
def test_threads_that_outnumber_the_cpus_make_progress(
    published: Callable[..., dict[str, Any]], two_cpus: Path, form: str
) -> None:
    words = (f"--lock={form}", "--workload=one-lock", "--cpus=any", "--threads=5")
    record = published(*words, "--duration-ns=60000000", machine=two_cpus)
    assert record["operations"] > 5


def test_flexguard_s_waiters_sleep_while_a_thread_that_they_need_has_no_cpu(
    published: Callable[..., dict[str, Any]],
) -> None:
    """Two threads share each CPU; the waiters of mcs spin until its thread is back."""
    words = ("--workload=oversubscribed", "--threads=96", "--duration-ns=15000000")
    words += ("think_ns=1000", "jitter_percent=10")
    throughput = {
        lock: published(f"--lock={lock}", *words)["throughput_mops"]
        for lock in ("flexguard", "mcs")
    }
    assert throughput["flexguard"] > 2 * throughput["mcs"]


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_a_waker_s_store_is_visible_before_it_looks_for_sleepers(
    published: Callable[..., dict[str, Any]], a64: Path, seed: int
) -> None:
    """Otherwise all threads slept for ever, with some of these seeds."""
    words = ("think_cycles=3000", "jitter_percent=30", "--threads=8", f"--seed={seed}")
    words += ("--lock=litl-malthusian-park", "--duration-ns=3000000")
    assert published("--workload=one-lock", *words, machine=a64)["operations"] > 100


@pytest.mark.parametrize("executor", ["rcl", "flat-combining"])
@pytest.mark.parametrize("locks", [1, 3])
def test_a_published_executor_executes_one_section_at_a_time(
    published: Callable[..., dict[str, Any]], executor: str, locks: int
) -> None:
    words = ("--workload=delegation", "--lock=mcs", f"executor={executor}")
    record = published(*words, "jitter_percent=30", f"locks={locks}", "--threads=16")
    assert record["operations"] > 16
    assert record["jain_fairness"] > 0.8  # the server is not among the workers


def test_other_executors_have_no_published_form(build_dir: Path, opteron: Path) -> None:
    program = str(next(build_dir.rglob("hasp-simulate-published")))
    words = ("--workload=delegation", "--lock=mcs", "executor=ffwd", "--threads=4")
    done = subprocess.run(
        [program, f"--machine={opteron}", *words, *SHORT],
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert "only rcl and flat-combining have a published form" in done.stderr


def test_every_claim_finds_its_published_form() -> None:
    wanted = {
        lock for machine in ALL for lock in locks_of(Form.PUBLISHED, machine).values()
    }
    wanted |= {study_lock(Form.PUBLISHED, name) for name in INTERPOSED}
    wanted |= set(STUDY_FORMS.values())
    assert wanted <= set(FORMS)


@pytest.mark.parametrize("reads", [0, 50, 90, 99, 100])
def test_glibc_s_rwlock_excludes_and_lets_readers_share(
    published: Callable[..., dict[str, Any]], reads: int
) -> None:
    arguments = (f"--workload=readers:{reads}", "--lock=glibc", "cs_lines=2")
    record = published(*arguments, "--threads=8")
    assert record["operations"] > 100
    held = published(*arguments, "--threads=8", "cs_ns=2000")
    together = held["throughput_mops"] * 2000 / 1000
    assert together > 4 if reads == 100 else together < 4
