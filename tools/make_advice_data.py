#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make the data of `hasp bench advice`: docs/data/advice.jsonl.

Each line is one program with one number of threads: the throughput of every measured
run under every lock, from the store of the study, and the measures of some recorded
runs, which the advice is given from.

    tools/make_advice_data.py record TRACES     record the programs, about four minutes
    tools/make_advice_data.py prove TRACES --only unseen3
                                                compare locks as `hasp advise` does
    tools/make_advice_data.py write TRACES      write the data from the traces

A program without traces keeps its recordings, and one without comparisons its proofs.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs/data/advice.jsonl"
STUDY = ROOT / "docs/studies/advice"
CAMPAIGNS = ("plan", "lengths", "fresh", "unseen", "unseen2", "unseen3")
RECORDINGS = 3
SIGNIFICANT = 6  # digits of each value
SPLIT = STUDY / "split.toml"
STORES = ("latest", "again", "store")  # programs that were measured again, later first
PROOF_FIELDS = ("lock", "verdict", "ratio", "low", "high", "runs")
LEAST_RUNS = 2  # of a lock of these; if it has fewer, its older runs count
# Sites below all of these are left out.
LEAST = {
    "share": 0.002,
    "operation_share": 0.002,
    "gain": 0.01,
    "locks": 500,
    "trylock_failures_per_s": 100,
    "blocking_per_s": 100,
}
# The first list of the split that names a program counts.
HALVES = {
    "unseen-last": "unseen-last",
    "unseen-later": "unseen-later",
    "unseen": "unseen",
    "fresh": "fresh",
    "judging-later": "judging",
    "fitting-later": "fitting",
    "fitting": "fitting",
    "judging": "judging",
}
sys.path.insert(0, str(ROOT / "python"))

from hasp.advise.advice import Options, proved  # noqa: E402
from hasp.base.document import Document  # noqa: E402
from hasp.base.errors import HaspError  # noqa: E402
from hasp.compare.recorded_run import recorded, weight  # noqa: E402
from hasp.profile.diagnosis import advise  # noqa: E402
from hasp.profile.diagnosis.measure import features  # noqa: E402
from hasp.profile.diagnosis.rules import load as load_rules  # noqa: E402
from hasp.profile.model import proofs  # noqa: E402
from hasp.profile.model.build import load as load_trace  # noqa: E402
from hasp.profile.model.build import load_keeping_symbols  # noqa: E402
from hasp.profile.record import files  # noqa: E402
from hasp.study import campaign, grids, samples, shapes  # noqa: E402
from hasp.study.program import StudyProgram  # noqa: E402


def programs(campaigns: Sequence[str] = CAMPAIGNS) -> Iterator[StudyProgram]:
    """Every program of the campaigns."""
    for name in campaigns:
        yield from campaign.load(STUDY / f"{name}.toml").programs


def half_of(program: str) -> str:
    """The part of the split that a program belongs to."""
    split = Document.read(SPLIT)
    for listed, half in HALVES.items():
        for software in split.get((listed,)):
            if program == software or program.startswith(f"{software} "):
                return half
    raise SystemExit(f"{SPLIT} does not name the software of {program!r}")


def undisturbed(recordings: list[dict[str, Any] | None]) -> list[dict[str, Any] | None]:
    """The recordings during which other programs used little of the CPUs.

    `hasp advise` asks its user to record again otherwise (E1.disturbed). All of them if
    every one was disturbed.
    """
    limit = load_rules().limit("granted")
    quiet = [
        one for one in recordings if one is None or one.get("cpu_granted", 1) >= limit
    ]
    return quiet or recordings


def values_of(
    stores: Sequence[grids.Runs], program: StudyProgram, threads: int
) -> dict[str, list[float]]:
    """The throughput of each lock in each round; 0 under a lock that always failed.

    The first store with enough runs counts.
    """
    found = {}
    for lock in program.settings.locks:
        runs = [store.get((program.name, lock, threads), []) for store in stores]
        enough = (values for values in runs if len(values) >= LEAST_RUNS)
        found[lock] = list(map(rounded, next(enough, runs[-1] or [0.0])))
    return found


def runs_in(store: Path) -> grids.Runs:
    """The throughput of all runs of a store."""
    rows = samples.open_store(store).read()
    return grids.runs_of(rows, "two-cpus", campaign.THROUGHPUT)


def trace_of(traces: Path, program: str, threads: int, recording: int) -> Path:
    """The path of one recording's trace."""
    return traces / f"{program.replace(' ', '-')}-{threads}-{recording}.trace"


def record(traces: Path, campaigns: Sequence[str]) -> None:
    """Record each program with each number of threads, in rounds."""
    traces.mkdir(parents=True, exist_ok=True)
    for recording in range(RECORDINGS):
        for program in programs(campaigns):
            for threads in program.settings.threads:
                path = trace_of(traces, program.name, threads or 1, recording)
                if path.exists():
                    continue
                try:
                    recorded(shapes.here(program), threads, path, sample=False)
                except HaspError as problem:
                    print(f"{path.name}: {problem.message}", file=sys.stderr)


def prove(traces: Path, campaigns: Sequence[str]) -> None:
    """Compare locks on each program as `hasp advise -- COMMAND` does by default.

    It judges the first recording, and leaves its proofs beside the trace.
    """
    for program in programs(campaigns):
        for threads in program.settings.threads:
            path = trace_of(traces, program.name, threads or 1, 0)
            if proofs.path_of(path).exists() or not files.names(path):
                continue
            profile = max(map(load_keeping_symbols, files.names(path)), key=weight)
            settings = dataclasses.replace(
                shapes.here(program), threads=(threads,), locks=()
            )
            options = Options(trace=str(path))
            try:
                proved(profile, advise(profile, options.rules), settings, options)
            except HaspError as problem:
                print(f"{path.name}: {problem.message}", file=sys.stderr)


def proofs_of(path: Path) -> list[dict[str, Any]] | None:
    """The results of the comparison after a recording; None if there was none."""
    if not proofs.path_of(path).exists():
        return None
    return [
        known({name: getattr(one, name) for name in PROOF_FIELDS})
        for one in proofs.read(path)
    ]


def measures_of(path: Path) -> dict[str, Any] | None:
    """The known measures of a recorded run; None if it has no trace.

    Of several processes, the one with the most time in critical sections counts.
    """
    profiles = []
    for name in files.names(path):
        try:
            profiles.append(load_trace(name))
        except HaspError as problem:
            print(f"{name.name}: {problem.message}", file=sys.stderr)
    if not profiles:
        return None
    measured = asdict(features(max(profiles, key=weight), load_rules()))
    measured["sites"] = [known(site) for site in measured["sites"] if matters(site)]
    return known(measured)


def matters(site: dict[str, Any]) -> bool:
    """False for sites that no rule can fire at: they cost little, and are few locks."""
    return any((site[name] or 0) >= least for name, least in LEAST.items())


def known(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields that were measured, with rounded numbers."""
    return {
        name: rounded(value) if isinstance(value, float) else value
        for name, value in fields.items()
        if value is not None
    }


def rounded(value: float) -> float:
    """The value with a few significant digits."""
    return float(f"{value:.{SIGNIFICANT}g}")


def cases(traces: Path) -> Iterator[dict[str, Any]]:
    """The records of the data file."""
    before = {
        (one["program"], one["threads"]): one
        for one in map(json.loads, DATA.read_text("utf-8").splitlines())
    }
    stores = [runs_in(STUDY / name) for name in STORES]
    for program in programs():
        for size in program.settings.threads:
            threads = size or 1
            paths = [
                trace_of(traces, program.name, threads, number)
                for number in range(RECORDINGS)
            ]
            old = before.get((program.name, threads), {})
            recordings = old.get("recordings")
            if recordings is None or any(path.exists() for path in paths):
                recordings = undisturbed(list(map(measures_of, paths)))
            case = {
                "program": program.name,
                "threads": threads,
                "half": half_of(program.name),
                "study": STUDY.name,
                "runs": values_of(stores, program, threads),
                "recordings": recordings,
            }
            proven = proofs_of(paths[0]) or old.get("proofs")
            yield {**case, "proofs": proven} if proven else case


def main() -> int:
    """Record, or write the data."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("record", "prove", "write"))
    parser.add_argument("traces", type=Path, help="the folder of the traces")
    parser.add_argument(
        "--only",
        choices=CAMPAIGNS,
        nargs="+",
        default=CAMPAIGNS,
        help="record or prove the programs of these campaigns only",
    )
    arguments = parser.parse_args()
    if arguments.what != "write":
        do = record if arguments.what == "record" else prove
        do(arguments.traces, arguments.only)
        return 0
    lines = [
        json.dumps(case, separators=(",", ":")) for case in cases(arguments.traces)
    ]
    DATA.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
