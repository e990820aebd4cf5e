# SPDX-License-Identifier: MIT
"""Profiles of real programs agree with the known facts about these programs.

The workloads are those of the other tests in this folder, which run under every lock;
here each runs once, with glibc's mutex and the recorder.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from real import test_batch, test_servers
from real.programs import Launcher, Lock
from real.structure import GOLDEN, Facts, differences, facts

from hasp.locks import native
from hasp.profile.model.build import load
from hasp.profile.model.profile import Profile

GLIBC = Lock("glibc", parks=True)
SOURCE = re.compile(r"\w\.(c|cc|h)\b")  # a source file of the program


@pytest.fixture
def recording(folder: Path) -> Iterator[Launcher]:
    """Return a launcher that records its programs, and kills them at the end."""

    def environment(lock: str | None, **extra: str) -> dict[str, str]:
        if lock is None:
            return {**os.environ, **extra}
        settings = {
            "LD_PRELOAD": str(native.profiler()),
            "HASP_TRACE": str(folder / "hasp.trace"),
            "HASP_TRACE_SESSION": "1",
            "HASP_TRACE_MODE": "full",
            "HASP_TRACE_LOCK": "glibc",
        }
        return {**os.environ, **extra, **settings}

    launcher = Launcher(environment, GLIBC, folder)
    yield launcher
    launcher.close()


def busiest(folder: Path) -> Profile:
    """Return the profile of the process with the most acquisitions in a run."""
    traces = [
        path
        for path in folder.glob("hasp.trace*")
        if path.suffix == ".trace" or path.suffix[1:].isdecimal()
    ]
    assert traces, "nothing was recorded"
    return max(
        map(load, traces),
        key=lambda profile: sum(
            use.acquisitions for site in profile.sites for use in site.stats.values()
        ),
    )


def check(program: str, folder: Path) -> Facts:
    profile = busiest(folder)
    assert [event.kind for event in profile.events] == []
    found = facts(profile)
    print(program, json.dumps(found))  # pytest -rP shows it
    problems = differences(program, found)
    assert not problems, "\n".join([*problems, str(found)])
    return found


def test_golden_files_name_their_source() -> None:
    """Without its source, a golden file could not be checked."""
    for path in GOLDEN.glob("*.json"):
        about = json.loads(path.read_text(encoding="utf-8"))["about"]
        assert SOURCE.search(about), path


def test_memcached(recording: Launcher, folder: Path, port: int) -> None:
    test_servers.test_memcached(recording, GLIBC, port)
    check("memcached", folder)


Batch = Callable[[Launcher, Lock], None]

BATCH: dict[str, Batch] = {
    "db_bench": test_batch.test_db_bench,
    "kccachetest": test_batch.test_kyoto_cabinet,
    "node": test_batch.test_node_random_bytes,
    "sysbench_threads": test_batch.test_sysbench_threads,
    "sysbench_mutex": test_batch.test_sysbench_mutex,
}


@pytest.mark.real_slow
@pytest.mark.parametrize("program", BATCH)
def test_batch_programs(program: str, recording: Launcher, folder: Path) -> None:
    BATCH[program](recording, GLIBC)
    check(program, folder)


@pytest.mark.real_slow
def test_sqlite(recording: Launcher, folder: Path, build_dir: Path) -> None:
    test_batch.test_sqlite(recording, GLIBC, build_dir)
    check("sqlite", folder)


@pytest.mark.real_slow
def test_python_queue(recording: Launcher, folder: Path) -> None:
    test_batch.test_python_queue(recording)
    check("python_queue", folder)


@pytest.mark.real_slow
@pytest.mark.timeout(240)
def test_mariadb(recording: Launcher, folder: Path, port: int) -> None:
    test_servers.test_mariadb(recording, GLIBC, port)
    check("mariadb", folder)


backend = test_servers.backend


@pytest.mark.real_slow
def test_varnish(recording: Launcher, folder: Path, port: int, backend: int) -> None:
    test_servers.test_varnish(recording, port, backend)
    check("varnish", folder)


@pytest.mark.real_slow
def test_slapd(recording: Launcher, folder: Path, port: int) -> None:
    test_servers.test_slapd(recording, GLIBC, port)
    check("slapd", folder)
