# SPDX-License-Identifier: MIT
"""A comparison of locks on a program: from the options to the runs."""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

from hasp import version
from hasp.base import host
from hasp.base.errors import HaspError
from hasp.compare.progress import Progress
from hasp.compare.run import Runner
from hasp.compare.run_record import RESOURCES
from hasp.compare.settings import THREADS_MARK, Metric, Plan
from hasp.compare.store import Study, Writer, lock_facts, plan_facts
from hasp.launch.ready import parse_ready
from hasp.locks import native


def plan_of(arguments: argparse.Namespace, locks: Sequence[str]) -> Plan:
    """The plan that the options describe; an error for what does not fit together."""
    if (arguments.server is None) != (arguments.ready is None):
        raise HaspError(
            "--server and --ready belong together",
            "for example: --server './server -p 8080' --ready tcp:8080",
        )
    lines = [*arguments.command, arguments.server or ""]
    mentioned = any(THREADS_MARK in line for line in lines)
    if arguments.threads and not mentioned:
        raise HaspError(
            f"--threads is given, but {THREADS_MARK} is not in the command",
            f"write {THREADS_MARK} where the program takes its number of threads",
        )
    if mentioned and not arguments.threads:
        raise HaspError(
            f"{THREADS_MARK} is in the command, but --threads is not given",
            "for example: --threads 1,2,4",
        )
    others = [name for name in locks if name != native.REFERENCE]
    seed = arguments.seed
    return Plan(
        command=tuple(arguments.command),
        locks=(native.REFERENCE, *others),
        threads=arguments.threads or (None,),
        runs=arguments.runs,
        warmup=arguments.warmup,
        seed=random.SystemRandom().randrange(1 << 31) if seed is None else seed,
        timeout_s=arguments.timeout,
        metrics=_distinct(arguments.metrics or []),
        prepare=arguments.prepare,
        check=arguments.check,
        server=arguments.server,
        ready=parse_ready(arguments.ready) if arguments.ready else None,
    )


def _distinct(metrics: list[Metric]) -> tuple[Metric, ...]:
    taken = {measure.name for measure in RESOURCES}
    for metric in metrics:
        if metric.name in taken:
            raise HaspError(
                f"two measures are called {metric.name!r}",
                "name them apart: NAME=REGEX",
            )
        taken.add(metric.name)
    return tuple(metrics)


def _facts(candidate: str) -> dict[str, Any]:
    if not candidate.startswith(native.PLAN):
        return lock_facts(native.lock(candidate))
    from hasp.locks.site_plan import apply

    used = apply.locks_of(apply.load(candidate))
    return plan_facts(candidate, [native.lock(name) for name in used])


def new_study(plan: Plan) -> Study:
    """A study without runs."""
    return Study(
        plan=plan,
        host=host.facts().as_json(),
        locks=[_facts(candidate) for candidate in plan.locks],
        version=version(),
        started=datetime.now(timezone.utc).isoformat(timespec="seconds"),
    )


def carry_out(runner: Runner, study: Study, writer: Writer | None) -> None:
    """Every run of the plan, with progress on stderr, into the study and the file."""
    with runner, Progress(study.plan) as progress:
        study.peak_floor_bytes = runner.floor_bytes
        if writer:
            writer.header(study)
        for run in runner.runs(progress.starting):
            study.runs.append(run)
            progress.finished(run, runner.given_up(run.cell))
            if writer:
                writer.run(run)
