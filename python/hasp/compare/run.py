# SPDX-License-Identifier: MIT
"""Execution of a comparison: every run of every round, and its outcome."""

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
from hasp.base.energy.meter import READ_EVERY, Count
from hasp.base.errors import HaspError
from hasp.base.interference import interference
from hasp.base.output import quoted
from hasp.base.signals import uninterrupted
from hasp.compare import run_record as record
from hasp.compare.finished import LONGEST_QUOTE, Finished, tail, with_figures
from hasp.compare.recorder import Recorder
from hasp.compare.run_record import Run
from hasp.compare.settings import Cell, Settings
from hasp.launch import interpose
from hasp.launch.children import Child, Launcher, Strays, Usage, adopt_orphans
from hasp.launch.executable import find, to_execute
from hasp.launch.server import ended, refuse_if_occupied, wait_until_ready
from hasp.locks.given import Algorithms, given_lock, of_plan
from hasp.locks.native import REFERENCE
from hasp.locks.site_plan.model import SitePlan

FAILURES_UNTIL_GIVEN_UP = 2
SERVER_GRACE = 10.0  # seconds that a server gets to terminate in order


# What the user can do about a command that fails without Hasp.
REMEDIES = {
    record.HUNG: "give it less work, or more time with --timeout",
    record.DIFFERENT: "let --check accept the output without Hasp",
    record.NO_FIGURE: "correct --metric, or let the program print the figure",
    record.SERVER_FAILED: "correct --server or --ready",
}


@dataclasses.dataclass(frozen=True)
class LockSettings:
    """Algorithms, and environment variables that control them."""

    algorithms: Algorithms
    environment: Mapping[str, str]


class ReferenceFailed(HaspError):
    """The command does not work without Hasp, so there is nothing to compare."""


class ComparisonRunner:
    """Runs the cells of a comparison one at a time.

    It is a context manager, which starts and ends the processes that launch programs.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        plans: Mapping[str, SitePlan] | None = None,
        environment: Mapping[str, str] | None = None,
        recorder: Recorder | None = None,
        settings_of: Mapping[str, LockSettings] | None = None,
    ) -> None:
        """`plans` are those among the locks of the settings, by name.

        `settings_of` has the locks whose names are not labels of algorithms.
        `environment` is added to that of every program. With a recorder, the traces of
        a run remain until the next run begins.
        """
        self.settings = settings
        self.floor_bytes = 0
        self._base = {**interpose.original_environment(), **(environment or {})}
        self._recorder = recorder
        self._meter = find_meter()
        self._begun = time.monotonic()
        self._strays: Strays | None = None
        self._failures: Counter[Cell] = Counter()
        self._reference_passed: set[int | None] = set()
        self._environments: dict[str, dict[str, str]] = {}
        known, special = plans or {}, settings_of or {}
        for lock in settings.locks:
            plan = known.get(lock)
            if lock in special:
                self.add(lock, special[lock].algorithms)
                self._environments[lock].update(special[lock].environment)
            else:
                self.add(lock, of_plan(plan) if plan else given_lock(lock))

    def add(self, name: str, lock: Algorithms) -> None:
        """Make algorithms known by their name in cells.

        Raises HaspError if the program cannot run under it.
        """
        first = self.settings.cells[0]
        server = self.settings.server is not None
        command = self.settings.command_for(first)
        if server:
            find(command[0], self._base)
        subject = self.settings.server_for(first) if server else command
        recorded = self._recorder.settings(lock) if self._recorder else None
        self._environments[name] = interpose.environment(
            lock, self._base, subject, recorded
        )

    def __enter__(self) -> ComparisonRunner:
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
        # Runs end their own processes, but may have been interrupted before they did.
        with uninterrupted():
            self._load_launcher.close()
            self._server_launcher.close()
            if self._strays is not None:
                self._strays.end()
            self._folder.cleanup()

    def given_up(self, cell: Cell) -> bool:
        """Return true if a cell has failed too often to be tried again."""
        return self._failures[cell] >= FAILURES_UNTIL_GIVEN_UP

    def runs(self, starting: Callable[[int, Cell], None]) -> Iterator[Run]:
        """Make every run in turn; `starting` is called before each."""
        for block, cells in self.settings.blocks():
            for cell in cells:
                if self.given_up(cell):
                    continue
                starting(block, cell)
                yield self.attempt(block, cell)

    def attempt(self, block: int, cell: Cell) -> Run:
        """Run a cell once and note its outcome.

        Raises ReferenceFailed if the command does not work without Hasp either.
        """
        run = self.run(block, cell)
        if run.outcome != record.OK:
            self._failures[cell] += 1
            self._refuse_if_reference(run)
            self._try_reference(cell.threads)
        elif cell.lock == REFERENCE:
            self._reference_passed.add(cell.threads)
        return run

    def _try_reference(self, threads: int | None) -> None:
        """Check that the command works without Hasp before a lock is blamed."""
        if threads not in self._reference_passed:
            run = self.run(0, Cell(REFERENCE, threads))
            if run.outcome != record.OK:
                self._refuse_if_reference(run)
            self._reference_passed.add(threads)

    def _refuse_if_reference(self, run: Run) -> None:
        if run.lock != REFERENCE or run.threads in self._reference_passed:
            return
        remedy = REMEDIES.get(run.outcome, "make it work without Hasp first")
        threads = f" with {run.threads} threads" if run.threads else ""
        raise ReferenceFailed(
            f"the command does not work without Hasp{threads}: {run.detail}", remedy
        )

    def run(self, block: int, cell: Cell, cpus: Collection[int] = ()) -> Run:
        """Run one cell once, including --prepare and --check.

        The program under the lock is bound to `cpus`, unless that is empty.
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
        if self.settings.prepare is None:
            return
        line = self.settings.substitute(self.settings.prepare, cell)
        status, words = self._shell(line, self._base)
        if status:
            raise HaspError(
                f"--prepare {quoted(line)} failed with {ended(status)}{words}",
                "correct it; it runs in the shell, natively, before each run",
            )

    def _shell(
        self, line: str, environment: dict[str, str], given: Path | None = None
    ) -> tuple[int, str]:
        """Run a shell command of the user; returns its status and last line."""
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
                status = process.wait(timeout=max(60.0, self.settings.timeout_s))
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
        """Run a cell; return the run and, if the command started, its result."""
        run = Run(block, cell.lock, cell.threads, record.OK)
        if self.settings.server is None:
            finished = self._finish(cell, self._environments[cell.lock], cpus)
            return _with_usage(run, finished.usage, finished.energy_j), finished
        return self._measure_server(run, cell, cpus)

    def _measure_server(
        self, run: Run, cell: Cell, cpus: Collection[int]
    ) -> tuple[Run, Finished | None]:
        """Run the server under the lock and the command as its load."""
        assert self.settings.ready is not None
        refuse_if_occupied(self.settings.ready)
        argv = self.settings.server_for(cell)
        environment = self._environments[cell.lock]
        output = self._output("server")
        path = to_execute(argv[0], environment)
        server = self._server_launcher.start(path, argv, environment, output, cpus)
        finished = None
        try:
            trouble = wait_until_ready(
                server, self.settings.ready, self.settings.timeout_s
            )
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
        """Run the command until it ends or its time is up."""
        argv = self.settings.command_for(cell)
        output = self._output("command")
        path = to_execute(argv[0], environment)
        count = self._meter.begin() if self._meter else None
        child: Child = self._load_launcher.start(path, argv, environment, output, cpus)
        in_time = False
        try:
            in_time = _ends(child, self.settings.timeout_s, count)
        finally:
            usage = child.stop()
        return Finished(usage, in_time, *output, count.joules() if count else None)

    def _judge(self, run: Run, cell: Cell, finished: Finished) -> Run:
        """Classify the outcome of a run, and read the program's figures."""
        if not finished.in_time:
            words = f"did not end within {self.settings.timeout_s:g} s"
            return dataclasses.replace(run, outcome=record.HUNG, detail=words)
        if finished.usage.exit_code:
            words = ended(finished.usage.exit_code)
            last = finished.last_words()
            detail = f"{words}: {last}" if last else words
            return dataclasses.replace(run, outcome=record.FAILED, detail=detail)
        if self.settings.check is not None:
            line = self.settings.substitute(self.settings.check, cell)
            environment = {**self._base, "HASP_OUTPUT": str(finished.stdout)}
            status, words = self._shell(line, environment, finished.stdout)
            if status:
                detail = f"--check ended with {ended(status)}{words}"
                return dataclasses.replace(run, outcome=record.DIFFERENT, detail=detail)
        return with_figures(run, finished, self.settings.metrics)


def _ends(child: Child, timeout: float, count: Count | None) -> bool:
    """Wait for the end of a child, reading the energy meter often enough.

    Returns False if the time is up first.
    """
    deadline = time.monotonic() + timeout
    while True:
        left = deadline - time.monotonic()
        if child.wait(min(left, READ_EVERY)) is not None:
            return True
        if left <= READ_EVERY:
            return False
        if count:
            count.update()


def _own_time() -> float:
    """Return the CPU time that Hasp itself has used, in seconds."""
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
