# SPDX-License-Identifier: MIT
"""Carries out `hasp delegate`."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from hasp.base import output
from hasp.base.errors import EXIT_FINDING, EXIT_FINE, HaspError
from hasp.base.extras import require
from hasp.base.output import STDOUT
from hasp.base.progress import Display
from hasp.delegate import compile_database, report
from hasp.delegate.compilation import check_compiles
from hasp.delegate.edits import patch
from hasp.delegate.lock import find
from hasp.delegate.profiled import lock_of_profile
from hasp.delegate.rewriting import Rewriting, Style, rewrite
from hasp.delegate.syntax import Unit, shown
from hasp.delegate.trial import (
    ONE_SERVER,
    OTHER_SERVER,
    OWN_THREAD,
    Trial,
    try_executors,
)
from hasp.delegate.writing import write_copies, write_in_place
from hasp.locks.executors import check_executor

INSTALLED = Path("/usr")  # folders of headers below are not the program's


@dataclass(frozen=True)
class Options:
    """The options of `hasp delegate`."""

    database: Path | None = None  # None: that of this folder or of build/
    lock: str | None = None
    trace: Path | None = None
    diff: bool = False
    in_place: bool = False
    out: Path | None = None
    executor: str = "adaptive"
    check: str | None = None
    compiles: bool = True
    lines: bool | None = None  # None: for --out only
    ignored: tuple[Path, ...] = ()
    json: str | None = None


def delegate(options: Options) -> int:
    """Rewrite the sections of a lock, check the result, and write or print it.

    Returns the exit status. Raises HaspError, with the sources as they were, if a
    section cannot be rewritten, or if the result does not compile as before.
    """
    with _garbage_kept():
        return _delegate(options)


@contextmanager
def _garbage_kept() -> Iterator[None]:
    """Do not search for cycles meanwhile.

    The trees of the sources are kept until the end. To search a million nodes again
    and again would take longer than to read them.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _delegate(options: Options) -> int:
    require("delegate")
    check_executor(options.executor)
    if options.json:
        output.check_writable(options.json)
    wanted = options.lock or lock_of_profile(options.trace)
    units = _units(options.database or compile_database.find())
    lock = find(wanted, units)
    root = _root(units)
    lines = bool(options.out) if options.lines is None else options.lines
    ignored = (*options.ignored, *([options.out] if options.out else []))
    style = Style(options.executor, lines, ignored)
    rewriting = rewrite(lock, units, root, style)
    _require_below(rewriting, root)
    if options.compiles:
        check_compiles(rewriting.units, rewriting.contents)
    trials = _trials(options, rewriting, units, root, style)
    failed = any(trial.status for trial in trials)
    if not failed:
        _write(options, rewriting, root)
    _report(options, rewriting, root, trials)
    return EXIT_FINDING if failed else EXIT_FINE


def _units(database: Path) -> list[Unit]:
    commands = compile_database.load(database)
    units = []
    with Display() as show:
        for done, command in enumerate(commands):
            show.show_words(
                f"reading {shown(command.spelled)} ({done + 1} of {len(commands)})"
            )
            if command.file.suffix in (".c", ".cc", ".cpp", ".cxx", ".C"):
                units.append(Unit(command))
    return units


def _root(units: list[Unit]) -> Path:
    """Return the folder of the program: the current one, if all sources are below.

    Headers of installed libraries, found with -I, do not count.
    """
    compiled = {unit.command.file for unit in units}
    files = [
        path
        for unit in units
        for path in unit.sources
        if path in compiled or not path.is_relative_to(INSTALLED)
    ]
    here = Path.cwd()
    if all(path.is_relative_to(here) for path in files):
        return here
    return Path(os.path.commonpath([path.parent for path in files]))


def _require_below(rewriting: Rewriting, root: Path) -> None:
    for path in rewriting.contents:
        if not path.is_relative_to(root):
            raise HaspError(
                f"{path} would have to change, and is not below {root}",
                "run the command in the folder of the whole program",
            )


def _trials(
    options: Options, rewriting: Rewriting, units: list[Unit], root: Path, style: Style
) -> list[Trial]:
    if not options.check:
        return []

    def contents_for(executor: str) -> dict[Path, bytes]:
        if executor == options.executor:
            return rewriting.contents
        other = replace(style, executor=executor)
        return rewrite(rewriting.lock, units, root, other).contents

    ways = [OWN_THREAD, ONE_SERVER, OTHER_SERVER, options.executor]
    executors = list(dict.fromkeys(ways))
    return try_executors(options.check, root, executors, contents_for)


def _write(options: Options, rewriting: Rewriting, root: Path) -> None:
    if options.diff and options.json != STDOUT:
        changes = (
            (str(path.relative_to(root)), path.read_bytes(), content)
            for path, content in rewriting.contents.items()
        )
        sys.stdout.write(patch(changes))
    if options.out:
        write_copies(rewriting.contents, root, options.out)
    if options.in_place:
        for path, backup in write_in_place(rewriting.contents).items():
            kept = f", the original is {backup.name}" if backup else ""
            output.note(f"{path.relative_to(root)} is rewritten{kept}")


def _report(
    options: Options, rewriting: Rewriting, root: Path, trials: list[Trial]
) -> None:
    if options.json:
        records = report.records(rewriting, options.executor, root, trials)
        output.write_json(records, options.json)
    if options.json == STDOUT:
        return
    lines = [*report.text(rewriting, options.executor, root)]
    lines += report.trials_text(trials)
    wrote = options.diff or options.out or options.in_place
    if any(trial.status for trial in trials):
        lines.append("The tests fail: nothing has been changed.")
    elif not wrote:
        lines.append("Nothing has been changed: --diff shows the patch.")
    # A patch on stdout stays a patch.
    stream = sys.stderr if options.diff else sys.stdout
    print("\n".join(map(output.printable, lines)), file=stream)
