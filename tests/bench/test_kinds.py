# SPDX-License-Identifier: MIT
"""The other kinds are measured in the environment that `hasp run` would give them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from hasp.lab.bench.cases import GLIBC, known_cases
from hasp.lab.bench.runner import OK, Runner
from hasp.launch import interpose
from hasp.locks import native
from hasp.locks.given import algorithms
from hasp.locks.kinds import BARRIER, RWLOCK, SPINLOCK, Kind

LOCKS = {RWLOCK: "bravo+rw-futex", SPINLOCK: "spin-then-park", BARRIER: "central"}

Hasp = Callable[..., "CompletedProcess[str]"]


@pytest.mark.parametrize("kind", LOCKS, ids=lambda kind: kind.name)
def test_each_algorithm_runs_in_the_environment_of_hasp_run(kind: Kind) -> None:
    runner = Runner([LOCKS[kind]], 1, kind)
    run = interpose.environment(
        algorithms([native.lock(LOCKS[kind], kind)]),
        interpose.original_environment(),
        [runner.program],
    )
    assert runner.environments[LOCKS[kind]] == run
    assert run[kind.setting] == LOCKS[kind]
    assert runner.environments[GLIBC].get(kind.setting, GLIBC) == GLIBC


@pytest.mark.parametrize("kind", LOCKS, ids=lambda kind: kind.name)
def test_every_case_is_measured_with_two_threads(kind: Kind) -> None:
    runner = Runner([LOCKS[kind]], 1, kind)
    for case in known_cases(kind):
        if case.threads == 2:
            for lock in (GLIBC, LOCKS[kind]):
                sample = runner.measure(case, lock)
                assert sample.outcome == OK, sample
                assert sample.value and sample.value > 0


def test_results_are_shown_again_for_their_kind_only(
    hasp: Hasp, tmp_path: Path
) -> None:
    file = tmp_path / "pairs.json"
    arguments = ("--cases", "write_pair", "--locks", "rw-futex", "--runs", "1")
    assert hasp("bench", "rwlocks", *arguments, "--json", str(file)).returncode == 0
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert {(row["kind"], row["case"]) for row in rows} == {("rwlock", "write_pair")}
    again = hasp("bench", "rwlocks", "--from", str(file))
    assert "write_pair, 2 threads" in again.stdout
    refused = hasp("bench", "barriers", "--from", str(file))
    assert refused.returncode == 2
    assert "no such rows of barriers" in refused.stderr


def test_an_algorithm_of_another_kind_is_refused_with_its_command(hasp: Hasp) -> None:
    refused = hasp("bench", "rwlocks", "--locks", "tournament")
    assert refused.returncode == 2
    assert "`hasp bench barriers --locks tournament`" in refused.stderr
