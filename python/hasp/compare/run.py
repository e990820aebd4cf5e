# SPDX-License-Identifier: MIT
"""Carrying out a plan: each run of each block, and what came of it."""

from __future__ import annotations

import dataclasses
import os
import resource
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from types import TracebackType

from hasp.base.energy.host_meter import find as find_meter
from hasp.base.energy.meter import LOOK_EVERY, Count
from hasp.base.errors import HaspError
from hasp.base.interference import interference
from hasp.base.signals import uninterrupted
from hasp.compare import run_record as record
from hasp.compare.finished import LONGEST_QUOTE, Finished, tail, with_figures
from hasp.compare.recorder import Recorder
from hasp.compare.run_record import Run
from hasp.compare.settings import Cell, Plan
from hasp.launch import interpose
from hasp.launch.children import Child, Launcher, Strays, Usage, adopt_orphans
from hasp.launch.executable import find, to_execute
from hasp.launch.server import ended, refuse_if_occupied, wait_until_ready
from hasp.locks.native import REFERENCE

FAILURES_UNTIL_GIVEN_UP = 2
SERVER_GRACE = 10.0  # seconds that a server may take to end in order


class ReferenceFailed(HaspError):
    """The command does not even work natively, so there is nothing to compare."""


class Runner:
    """Runs the cells of a plan one by one; a context manager for its helpers."""

    def __init__(
        self,
        plan: Plan,
        *,
        candidates: Mapping[str, str] | None = None,
        settings: Mapping[str, str] | None = None,
        recorder: Recorder | None = None,
    ) -> None:
        """`candidates` says what names in the plan's list that are no locks stand for.

        `settings` are added to the environment of whatever runs. With a recorder each
        run leaves its traces there until the next one begins.
        """
        self.plan = plan
        self.floor_bytes = 0
        self._base = {**interpose.original_environment(), **(settings or {})}
        self._recorder = recorder
        self._meter = find_meter()
        self._begun = time.monotonic()
        self._strays: Strays | None = None
        self._failures: Counter[Cell] = Counter()
        self._reference_passed: set[int | None] = set()
        self._environments = self._check(candidates or {})

    def _check(self, candidates: Mapping[str, str]) -> dict[str, dict[str, str]]:
        """Refuse what cannot work before anything runs: an environment per lock."""
        first = self.plan.cells[0]
        server = self.plan.server is not None
        command = self.plan.command_for(first)
        if server:
            find(command[0], self._base)
        subject = self.plan.server_for(first) if server else command
        recorder = self._recorder
        return {
            lock: interpose.environment(
                candidates.get(lock, lock),
                self._base,
                subject,
                recorder.settings(lock) if recorder else None,
            )
            for lock in self.plan.locks
        }

    def __enter__(self) -> Runner:
        adopt_orphans()
        self._folder = tempfile.TemporaryDirectory(prefix="hasp-compare-")
        self._load_launcher = Launcher(self._folder.name)
        self._server_launcher = Launcher(self._folder.name)
        self.floor_bytes = self._load_launcher.floor_bytes
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Once more for all that a run ends itself: it may have been interrupted there.
        with uninterrupted():
            self._load_launcher.close()
            self._server_launcher.close()
            if self._strays is not None:
                self._strays.end()
            self._folder.cleanup()

    def given_up(self, cell: Cell) -> bool:
        """Whether a cell has failed so often that it is not tried again."""
        return self._failures[cell] >= FAILURES_UNTIL_GIVEN_UP

    def runs(self, starting: Callable[[int, Cell], None]) -> Iterator[Run]:
        """Every run of the plan; `starting` hears of each before it begins."""
        for block, cells in self.plan.blocks():
            for cell in cells:
                if self.given_up(cell):
                    continue
                starting(block, cell)
                run = self.run(block, cell)
                if run.outcome != record.OK:
                    self._failures[cell] += 1
                    self._refuse_if_reference(run)
                    self._try_reference(cell.threads)
                elif cell.lock == REFERENCE:
                    self._reference_passed.add(cell.threads)
                yield run

    def _try_reference(self, threads: int | None) -> None:
        """Before a lock is blamed for a failure, see that the command works at all."""
        if threads not in self._reference_passed:
            run = self.run(0, Cell(REFERENCE, threads))
            if run.outcome != record.OK:
                self._refuse_if_reference(run)
            self._reference_passed.add(threads)

    def _refuse_if_reference(self, run: Run) -> None:
        if run.lock != REFERENCE or run.threads in self._reference_passed:
            return
        remedies = {
            record.HUNG: "give it less work, or more time with --timeout",
            record.DIFFERENT: "--check must accept what it prints without Hasp",
            record.NO_FIGURE: "correct --metric, or let the program print the figure",
            record.SERVER_FAILED: "correct --server or --ready",
        }
        remedy = remedies.get(run.outcome, "make it work without Hasp first")
        threads = f" with {run.threads} threads" if run.threads else ""
        raise ReferenceFailed(
            f"the command does not work without Hasp{threads}: {run.detail}", remedy
        )

    def run(self, block: int, cell: Cell, cpus: Collection[int] = ()) -> Run:
        """One run of one cell, with everything around it.

        What runs under the lock is bound to `cpus`, if any are named.
        """
        started = time.monotonic() - self._begun
        self._prepare(cell)
        if self._recorder:
            self._recorder.clear()
        self._strays = strays = Strays()
        before, own = interference(cpus), _own_time()
        try:
            result, finished = self._measure(block, cell, cpus)
        finally:
            user_s, system_s, peak = strays.end()
        noise = interference(cpus) - before
        ours = _own_time() - own + result.all_cpu_s + user_s + system_s
        result = dataclasses.replace(
            result,
            started_s=round(started, 3),
            user_s=None if result.user_s is None else result.user_s + user_s,
            system_s=None if result.system_s is None else result.system_s + system_s,
            peak_bytes=result.peak_bytes and max(result.peak_bytes, peak),
            steal=round(noise.steal_share, 4),
            throttled=noise.throttled,
            other_s=round(noise.others(ours), 3),
            other_load=round(noise.other_share(ours), 4),
            heated=noise.heated,
        )
        return self._judge(result, cell, finished) if finished else result

    def _prepare(self, cell: Cell) -> None:
        if self.plan.prepare is None:
            return
        line = self.plan.substitute(self.plan.prepare, cell)
        status, words = self._shell(line, self._base)
        if status:
            raise HaspError(
                f"--prepare {line!r} failed with {ended(status)}{words}",
                "correct it; it runs in the shell, natively, before each run",
            )

    def _shell(
        self, line: str, environment: dict[str, str], given: Path | None = None
    ) -> tuple[int, str]:
        """Run a line of the user's in the shell; its status and its last words."""
        output = Path(self._folder.name) / "shell"
        with (given or Path(os.devnull)).open("rb") as stdin, output.open("wb") as file:
            process = subprocess.Popen(
                ["/bin/sh", "-c", line],
                stdin=stdin,
                stdout=file,
                stderr=file,
                env=environment,
                start_new_session=True,
            )
            try:
                status = process.wait(timeout=max(60.0, self.plan.timeout_s))
            except BaseException as problem:
                os.killpg(process.pid, 9)
                process.wait()
                if isinstance(problem, subprocess.TimeoutExpired):
                    return -9, ", because it did not end"
                raise
        lines = [text for text in tail(output).splitlines() if text.strip()]
        return status, f": {lines[-1].strip()[:LONGEST_QUOTE]}" if lines else ""

    def _measure(
        self, block: int, cell: Cell, cpus: Collection[int]
    ) -> tuple[Run, Finished | None]:
        """What a run used, and how its command ended if it came to that."""
        run = Run(block, cell.lock, cell.threads, record.OK)
        if self.plan.server is None:
            finished = self._finish(cell, self._environments[cell.lock], cpus)
            return _with_usage(run, finished.usage, finished.energy_j), finished
        return self._measure_server(run, cell, cpus)

    def _measure_server(
        self, run: Run, cell: Cell, cpus: Collection[int]
    ) -> tuple[Run, Finished | None]:
        """Run the command as the load of a server that runs under the lock."""
        assert self.plan.ready is not None
        refuse_if_occupied(self.plan.ready)
        argv = self.plan.server_for(cell)
        environment = self._environments[cell.lock]
        output = self._output("server")
        path = to_execute(argv[0], environment)
        server = self._server_launcher.start(path, argv, environment, output, cpus)
        finished = None
        try:
            trouble = wait_until_ready(server, self.plan.ready, self.plan.timeout_s)
            if not trouble:
                finished = self._finish(cell, self._base)
                early = server.wait(0)
                if early is not None:
                    trouble = f"the server ended early ({ended(early.exit_code)})"
        finally:
            usage = server.stop(SERVER_GRACE)
        run = _with_usage(run, usage, finished.energy_j if finished else None)
        words = Finished(usage, True, *output).last_words()
        if finished is not None:
            run = dataclasses.replace(
                run,
                wall_s=finished.usage.wall_s,
                exit_code=finished.usage.exit_code,
                load_user_s=finished.usage.user_s,
                load_system_s=finished.usage.system_s,
                load_peak_bytes=finished.usage.peak_bytes,
            )
        else:
            run = dataclasses.replace(run, wall_s=None)
        if trouble:
            detail = f"{trouble}: {words}" if words else trouble
            failed = record.SERVER_FAILED
            return dataclasses.replace(run, outcome=failed, detail=detail), None
        return run, finished

    def _output(self, name: str) -> tuple[Path, Path]:
        folder = Path(self._folder.name)
        return folder / f"{name}.stdout", folder / f"{name}.stderr"

    def _finish(
        self, cell: Cell, environment: dict[str, str], cpus: Collection[int] = ()
    ) -> Finished:
        """Run the command to its end, or until its time is over."""
        argv = self.plan.command_for(cell)
        output = self._output("command")
        path = to_execute(argv[0], environment)
        count = self._meter.begin() if self._meter else None
        child: Child = self._load_launcher.start(path, argv, environment, output, cpus)
        in_time = False
        try:
            in_time = _ends(child, self.plan.timeout_s, count)
        finally:
            usage = child.stop()
        return Finished(usage, in_time, *output, count.joules() if count else None)

    def _judge(self, run: Run, cell: Cell, finished: Finished) -> Run:
        """Decide whether a run went well, and read the program's figures."""
        if not finished.in_time:
            words = f"did not end within {self.plan.timeout_s:g} s"
            return dataclasses.replace(run, outcome=record.HUNG, detail=words)
        if finished.usage.exit_code:
            words = ended(finished.usage.exit_code)
            last = finished.last_words()
            detail = f"{words}: {last}" if last else words
            return dataclasses.replace(run, outcome=record.FAILED, detail=detail)
        if self.plan.check is not None:
            line = self.plan.substitute(self.plan.check, cell)
            environment = {**self._base, "HASP_OUTPUT": str(finished.stdout)}
            status, words = self._shell(line, environment, finished.stdout)
            if status:
                detail = f"--check ended with {ended(status)}{words}"
                return dataclasses.replace(run, outcome=record.DIFFERENT, detail=detail)
        return with_figures(run, finished, self.plan.metrics)


def _ends(child: Child, timeout: float, count: Count | None) -> bool:
    """Whether it ends in time; the meter is looked at as often as it needs."""
    deadline = time.monotonic() + timeout
    while True:
        left = deadline - time.monotonic()
        if child.wait(min(left, LOOK_EVERY)) is not None:
            return True
        if left <= LOOK_EVERY:
            return False
        if count:
            count.look()


def _own_time() -> float:
    """The CPU seconds that Hasp itself has used."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _with_usage(run: Run, usage: Usage, energy_j: float | None) -> Run:
    return dataclasses.replace(
        run,
        exit_code=usage.exit_code,
        wall_s=usage.wall_s,
        user_s=usage.user_s,
        system_s=usage.system_s,
        peak_bytes=usage.peak_bytes,
        switches=usage.switches,
        preemptions=usage.preemptions,
        energy_j=energy_j,
    )
