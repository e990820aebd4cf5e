# SPDX-License-Identifier: MIT
"""Runs `hasp-explore` on several subjects at a time and collects its records."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hasp.base.errors import EXIT_FINDING, HaspError, Interrupted
from hasp.base.output import STDOUT, note, write_json
from hasp.base.progress import Display
from hasp.base.signals import interrupt_on_signals
from hasp.lab.check.report import print_clients, print_results
from hasp.lab.check.subjects import ENGINE, Subject, listed
from hasp.locks import native

Record = dict[str, Any]


@dataclass
class Options:
    """The options of `hasp check`."""

    subjects: list[Subject]
    client: str
    preemptions: int | None  # None: unlimited
    seconds: float
    jobs: int | None
    json: str | None
    command: str


@dataclass
class _Work:
    """State shared by the threads that start the engines."""

    options: Options
    waiting: queue.SimpleQueue[Subject] = field(default_factory=queue.SimpleQueue)
    results: queue.SimpleQueue[Record | str | None] = field(
        default_factory=queue.SimpleQueue
    )
    running: set[subprocess.Popen[str]] = field(default_factory=set)
    stopped: bool = False


def list_clients(destination: str | None) -> int:
    """Print the clients of each kind; return the exit status."""
    records = listed("--list-clients")
    if destination:
        write_json(records, destination)
    else:
        print_clients(records)
    return 0


def check_all(options: Options) -> int:
    """Check all subjects, print the report, and return the exit status."""
    kinds = {subject.clients for subject in options.subjects}
    clients = listed("--list-clients")
    names = [record["client"] for record in clients if record["kind"] in kinds]
    if options.client not in ("all", *names):
        raise HaspError(
            f"there is no client {options.client!r}", f"clients: {', '.join(names)}"
        )
    records: list[Record] = []
    interrupt_on_signals()
    try:
        for record in _results(options):
            records.append(record)
    except Interrupted:
        _report(options, records)
        note(f"interrupted after {len(records)} checks; the others were not made")
        raise
    return _report(options, records)


def _report(options: Options, records: list[Record]) -> int:
    order = {(each.kind, each.name): i for i, each in enumerate(options.subjects)}
    records.sort(key=lambda record: order[record["kind"], record["lock"]])
    if options.json:
        rows = [{**record, "command": options.command} for record in records]
        write_json(rows, options.json)
    if options.json != STDOUT:
        print_results(records)
    wrong = any(record["verdict"] != "ok" for record in records)
    return EXIT_FINDING if wrong else 0


def _results(options: Options) -> Iterator[Record]:
    """Yield each record as soon as it arrives; show progress on stderr."""
    work = _Work(options)
    for subject in options.subjects:
        work.waiting.put(subject)
    jobs = min(options.jobs or len(os.sched_getaffinity(0)), len(options.subjects))
    feeders = [threading.Thread(target=_feed, args=(work,)) for _ in range(jobs)]
    for feeder in feeders:
        feeder.start()
    try:
        yield from _collect(work, jobs)
    finally:
        work.stopped = True
        for process in list(work.running):
            process.terminate()
        for feeder in feeders:
            feeder.join()


def _collect(work: _Work, jobs: int) -> Iterator[Record]:
    done, total = 0, len(work.options.subjects)
    with Display() as progress:
        while jobs:
            result = work.results.get()
            if result is None:
                jobs -= 1
            elif isinstance(result, str):
                done += 1
                progress.show(f"checked {result}", done, total, None)
            else:
                lock, client, verdict = map(result.get, ("lock", "client", "verdict"))
                if verdict != "ok":
                    progress.say(f"{lock}, {client}: {verdict}")
                yield result


def _feed(work: _Work) -> None:
    while not work.stopped:
        try:
            subject = work.waiting.get_nowait()
        except queue.Empty:
            break
        _check_one(work, subject)
        work.results.put(subject.name)
    work.results.put(None)


def _check_one(work: _Work, subject: Subject) -> None:
    options = work.options
    bound = "all" if options.preemptions is None else str(options.preemptions)
    command = [
        native.engine(ENGINE),
        "--kind",
        subject.clients,
        "--lock",
        subject.name,
        "--client",
        options.client,
        "--quiet",
    ]
    command += ["--preemptions", bound, "--time-limit", str(options.seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        work.running.add(process)
        assert process.stdout
        for line in process.stdout:
            if line.endswith("\n"):
                work.results.put(json.loads(line))
    work.running.discard(process)
    if process.returncode not in (0, EXIT_FINDING) and not work.stopped:
        crashed = f"the checker ended with status {process.returncode}"
        work.results.put(_failure(subject, options.client, crashed))


def _failure(subject: Subject, client: str, detail: str) -> Record:
    return {
        "schema": "hasp.check/1",
        "kind": subject.kind,
        "lock": subject.name,
        "client": client,
        "threads": 0,
        "preemptions": None,
        "complete": False,
        "interrupted": False,
        "states": 0,
        "iterations": 0,
        "seconds": 0.0,
        "verdict": "crash",
        "detail": detail,
        "counterexample": [],
    }
