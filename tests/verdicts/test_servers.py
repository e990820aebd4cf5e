# SPDX-License-Identifier: MIT
"""The servers with known lock faults run, and their fixes remove the faults."""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lock_list import BUILD, ROOT

sys.path.insert(0, str(ROOT / "tools"))

from verdict_truth import CAUSES, FOLDERS, HEALTHY, THREADS, Program, programs

SKIPPED, HUNG = 77, 3
# Programs whose fix gains far more than a busy machine can hide; the threads for it.
STRONG = {
    "access_log": 4,
    "arena_alloc": 2,
    "audio_mixer": 8,
    "batch_stage": 4,
    "catalog_reload": 4,
    "char_logger": 2,
    "conn_pool": 4,
    "credit_window": 8,
    "dns_resolver": 8,
    "dvb_demux": 2,
    "encode_pipeline": 4,
    "fifo_gate": 8,
    "frame_batcher": 4,
    "hex_dump": 2,
    "inbox_poll": 4,
    "json_writer": 2,
    "lexer": 2,
    "log_shipper": 4,
    "mail_spool": 4,
    "mx_cache": 4,
    "packet_meter": 8,
    "payment_client": 4,
    "pipe_logger": 4,
    "retry_client": 4,
    "ring_logger": 8,
    "rng_service": 2,
    "route_table": 4,
    "sms_gateway": 4,
    "stream_parser": 2,
    "thumb_future": 4,
}
RATIO, ROUNDS = 1.2, 5


def path_of(program: Program) -> Path:
    return BUILD / FOLDERS[program.half].relative_to(ROOT) / program.program


def built_programs() -> list[Any]:
    """All programs; a test of one that is not built by default is slow."""
    return [
        pytest.param(
            program,
            id=program.name,
            marks=() if path_of(program).exists() else pytest.mark.slow,
        )
        for program in programs()
    ]


def executable(program: Program) -> Path:
    """The program's file; skips the test where an optional compiler is missing."""
    path = path_of(program)
    if not path.exists() and (program.source.suffix == ".cpp" or "omp" in program.name):
        pytest.skip(f"{program.program} is not built: no C++ compiler, or no OpenMP")
    assert path.exists(), "build it: ninja -C build servers"
    return path


def serve(program: Program, threads: int, seconds: float, fix: str) -> float:
    """The operations per second of one run."""
    options = ["--threads", str(threads), "--seconds", str(seconds), "--fix", fix]
    command = [str(executable(program)), *options]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=50)
    if ran.returncode == SKIPPED:
        pytest.skip(ran.stderr.strip())
    if ran.returncode == HUNG and "<semaphore>" in program.source.read_text():
        pytest.skip("a semaphore of libstdc++ lost a wake-up (GCC bug 98033)")
    assert ran.returncode == 0, ran.stderr
    assert re.search(r"^p99: \d+ ns$", ran.stdout, re.MULTILINE)
    found = re.search(r"^ops/s: ([\d.]+)$", ran.stdout, re.MULTILINE)
    assert found, ran.stdout
    return float(found[1])


def named(name: str) -> Program:
    """The program of that name."""
    return next(program for program in programs() if program.name == name)


@pytest.mark.parametrize("half", FOLDERS)
def test_each_half_has_every_cause(half: str) -> None:
    found = [program for program in programs() if program.half == half]
    assert {program.cause for program in found} == CAUSES
    assert len(found) >= 20


def test_every_source_has_a_row_and_only_one() -> None:
    sources = {
        path
        for folder in FOLDERS.values()
        for path in folder.glob("*.c*")
        if path.name not in ("server.c", "fair_lock.c")
    }
    rows = [program.source for program in programs()]
    assert sorted(rows) == sorted(sources)
    assert len({program.name for program in programs()}) == len(rows)


@pytest.mark.parametrize("program", programs(), ids=lambda program: program.name)
def test_row_fits_its_source(program: Program) -> None:
    source = program.source.read_text(encoding="utf-8")
    names = re.search(r"fixes\[\] = \{(.*?)\}", source, re.DOTALL)
    assert names
    assert tuple(re.findall(r'"([\w-]+)"', names[1])) == program.fixes
    assert set(program.threads) <= set(THREADS)
    if program.cause not in HEALTHY:
        assert program.remedy in program.fixes
        words = [word for name in program.mutex for word in re.findall(r"\w+", name)]
        assert all(re.search(rf"\b{word}\b", source) for word in words)
        assert re.search(rf"\b{program.holder}\b", source)


@pytest.mark.parametrize("program", built_programs())
def test_runs_with_every_fix(program: Program) -> None:
    for fix in ("none", *program.fixes):
        serve(program, threads=2, seconds=0.03, fix=fix)


def test_unknown_fix_is_refused() -> None:
    program = named("access_log")
    command = [str(executable(program)), "--fix", "prayer"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=50)
    assert ran.returncode == 2
    assert "has no fix prayer" in ran.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", STRONG)
def test_fix_removes_the_fault(name: str) -> None:
    program, threads = named(name), STRONG[name]
    ratios = []
    for _ in range(ROUNDS):
        faulty = serve(program, threads, 0.3, "none")
        ratios.append(serve(program, threads, 0.3, program.remedy) / max(faulty, 0.1))
    assert statistics.median(ratios) > RATIO, ratios
