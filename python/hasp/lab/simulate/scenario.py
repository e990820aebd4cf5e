# SPDX-License-Identifier: MIT
"""Scenarios: simulated experiments with exact results, used as regression tests.

A scenario is a TOML file that describes runs, and lists their exact results under
`[expected]`. Any difference is a change of performance, intended or not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hasp.base import output
from hasp.base.document import Document
from hasp.base.errors import EXIT_FINDING, HaspError
from hasp.base.files import write_file
from hasp.base.suggestion import did_you_mean
from hasp.lab.simulate import placement
from hasp.lab.simulate.job import OK, Job, Record
from hasp.lab.simulate.machines.machine import load
from hasp.lab.simulate.pool import run_jobs
from hasp.lab.simulate.simulation import flattened, workload_of
from hasp.locks.kinds import kind_of
from hasp.locks.selection import select

SCHEMA = 1
FOLDER = Path(__file__).resolve().parent / "scenarios"
SUFFIX = ".toml"
ALL = "all"
KEYS = ("schema", "title", "machine", "workload", "locks", "threads")
OPTIONAL = ("placement", "seed", "warm_up_ns", "duration_ns", "knobs", "expected")
# The compared results. All are integers, so rounding cannot hide or cause a difference.
FIGURES = ("operations", "transfers_local", "transfers_remote", "longest_run")
HEADING = "[expected]"


@dataclass(frozen=True)
class Scenario:
    """A parsed scenario file."""

    path: Path
    title: str
    machine: str
    workload: str
    locks: tuple[str, ...]
    threads: tuple[int, ...]
    placement: str
    seed: int
    warm_up_ns: int
    duration_ns: int
    knobs: Mapping[str, Any]
    expected: Mapping[str, Mapping[str, int | None]]


def names() -> list[str]:
    """Names of the scenarios that come with Hasp."""
    return sorted(path.stem for path in FOLDER.glob(f"*{SUFFIX}"))


def find(text: str) -> list[Path]:
    """Return the files for a comma-separated list of names and paths, or `all`.

    Raises HaspError for unknown names.
    """
    if text == ALL:
        return [FOLDER / f"{name}{SUFFIX}" for name in names()]
    found = []
    for word in text.split(","):
        if word in names():
            found.append(FOLDER / f"{word}{SUFFIX}")
        elif Path(word).is_file():
            found.append(Path(word))
        else:
            offer = did_you_mean(word, names())
            raise HaspError(
                f"there is no scenario {word!r}",
                f"{offer}choose one of {', '.join(names())}, or the path of a file",
            )
    return found


def read(path: Path) -> Scenario:
    """Return the scenario in a file. Raises HaspError with file, line and key."""
    document = Document.read(path)
    data = document.data
    for key in data:
        if key not in (*KEYS, *OPTIONAL):
            document.fail((key,), "unknown key", f"known: {', '.join(KEYS + OPTIONAL)}")
    for key in KEYS:
        if key not in data:
            document.fail((key,), "missing", f"required keys: {', '.join(KEYS)}")
    if data["schema"] != SCHEMA:
        document.fail(("schema",), "unknown version", f"write schema = {SCHEMA}")
    threads = data["threads"]
    if not isinstance(threads, list) or not all(isinstance(n, int) for n in threads):
        document.fail(("threads",), "not a list of numbers", "write [1, 10, 80]")
    locks = data["locks"]
    if not isinstance(locks, list) or not all(isinstance(name, str) for name in locks):
        document.fail(("locks",), "not a list of names", 'write ["mcs", "futex"]')
    return Scenario(
        path=path,
        title=str(data["title"]),
        machine=str(data["machine"]),
        workload=str(data["workload"]),
        locks=tuple(
            lock.name
            for lock in select(
                ",".join(locks), kind_of(workload_of(str(data["workload"])).kind)
            )
        ),
        threads=tuple(threads),
        placement=str(data.get("placement", placement.DEFAULT)),
        seed=int(data.get("seed", 1)),
        warm_up_ns=int(data.get("warm_up_ns", 100_000)),
        duration_ns=int(data.get("duration_ns", 1_000_000)),
        knobs=data.get("knobs", {}),
        expected=data.get("expected", {}),
    )


def jobs_of(scenario: Scenario, machine_file: str) -> list[Job]:
    """Return the runs of a scenario."""
    machine = load(scenario.machine)
    workload = workload_of(scenario.workload)
    knobs = tuple(sorted((key, str(value)) for key, value in scenario.knobs.items()))
    locks: Sequence[str | None] = scenario.locks if workload.takes_lock else [None]
    return [
        Job(
            machine=machine_file,
            workload=scenario.workload,
            lock=lock,
            threads=count,
            cpus=None
            if workload.unpinned
            else tuple(
                placement.cpus(machine, count, scenario.placement, scenario.seed)
            ),
            seed=scenario.seed,
            warm_up_ns=scenario.warm_up_ns,
            duration_ns=scenario.duration_ns,
            knobs=knobs,
        )
        for lock in locks
        for count in scenario.threads
    ]


def run(scenario: Scenario, width: int | None = None) -> dict[str, dict[str, Any]]:
    """Return the results by lock and number of threads, in the order of the file."""
    with flattened(load(scenario.machine)) as machine_file:
        jobs = jobs_of(scenario, machine_file)
        found = {_key(record): record for record in run_jobs(jobs, width)}
    return {key: _figures(found[key]) for key in map(_key_of_job, jobs)}


def _key(record: Record) -> str:
    return f"{record['lock'] or record['workload']}/{record['threads']}"


def _key_of_job(job: Job) -> str:
    return f"{job.lock or job.workload.partition(':')[0]}/{job.threads}"


def _figures(record: Record) -> dict[str, Any]:
    if record["outcome"] != OK:
        return {"failed": record["detail"].splitlines()[0]}
    return {key: record[key] for key in FIGURES if record[key] is not None}


def differences(
    expected: Mapping[str, Mapping[str, Any]], found: Mapping[str, Mapping[str, Any]]
) -> Iterator[str]:
    """Describe each difference between expected and actual results."""
    for key in sorted({*expected, *found}):
        old, new = expected.get(key), found.get(key)
        if old is None or new is None:
            yield f"{key}: {'not expected' if old is None else 'not run'}"
            continue
        for figure in dict.fromkeys([*old, *new]):
            before, after = old.get(figure), new.get(figure)
            if before != after:
                yield f"{key}: {figure} {before} is now {after}{_change(before, after)}"


def _change(before: Any, after: Any) -> str:
    if isinstance(before, int) and isinstance(after, int) and before:
        return f" ({after / before - 1:+.1%})"
    return ""


def write_expected(scenario: Scenario, found: Mapping[str, Mapping[str, Any]]) -> None:
    """Replace the expected results in the file and keep the text above them."""
    text = scenario.path.read_text(encoding="utf-8").partition(HEADING)[0].rstrip()
    lines = [text, "", HEADING]
    for key, figures in found.items():
        cells = ", ".join(
            f"{name} = {value!r}" if isinstance(value, int) else f'{name} = "{value}"'
            for name, value in figures.items()
        )
        lines.append(f'"{key}" = {{ {cells} }}')
    write_file(scenario.path, "\n".join(lines) + "\n")


def check(text: str, update: bool, width: int | None) -> int:
    """Run scenarios and compare their results, or write them with `update`.

    Returns the exit status: 1 if results differ and are not written.
    """
    changed = False
    for path in find(text):
        scenario = read(path)
        found = run(scenario, width)
        said = list(differences(scenario.expected, found))
        if update:
            write_expected(scenario, found)
        changed = changed or bool(said)
        console = output.console()
        words = f"{len(said)} differences" if said else "as expected"
        console.print(f"{path.stem}: {len(found)} runs, {words}")
        for line in said:
            console.print(f"  {line}")
    if changed and not update:
        output.note("if this is intended, write the new results with `--update`")
    return EXIT_FINDING if changed and not update else 0
