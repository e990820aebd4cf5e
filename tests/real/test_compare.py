# SPDX-License-Identifier: MIT
"""Tests `hasp compare` with a server under load, and with output that is checked."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lock_list import representatives
from real.programs import need

Hasp = Callable[..., "subprocess.CompletedProcess[str]"]


def records(file: Path, kind: str) -> list[dict[str, Any]]:
    """Return the records of one kind in the output of `--json`."""
    lines = map(json.loads, file.read_text().splitlines())
    return [record for record in lines if record["kind"] == kind]


@pytest.mark.timeout(170)
@pytest.mark.parametrize(
    "locks",
    ["glibc,clh-park,futex", pytest.param("all", marks=pytest.mark.real_slow)],
)
def test_memcached_under_load(
    hasp: Hasp, lock_names: list[str], folder: Path, port: int, locks: str
) -> None:
    """The server runs under each lock; the load runs natively and checks results."""
    memcached = need("memcached", "memcached")
    memcaslap = need("memcaslap", "libmemcached-tools")
    results = folder / "results.jsonl"
    finished = hasp(
        *("compare", "--runs", 1, "--warmup", 0, "--locks", locks, "--json", results),
        *("--server", f"{memcached} -u root -l 127.0.0.1 -p {port} -t 2 -m 64"),
        *("--ready", f"tcp:{port}", "--timeout", "20s"),
        *("--metric", r"TPS: (\d+)", "--unit", "ops/s"),
        *("--check", "grep -q '^verify_failed: 0$'"),
        *("--", memcaslap, "-s", f"127.0.0.1:{port}"),
        *("-T", 1, "-c", 8, "-x", 5000, "-v", "0.5"),
        timeout=150,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    runs = records(results, "run")
    names = lock_names if locks == "all" else locks.split(",")
    assert sorted(run["lock"] for run in runs) == sorted(names)
    for run in runs:
        assert run["outcome"] == "ok", run
        assert run["figures"]["figure"] > 0
    for name in names:
        assert name in finished.stdout


@pytest.mark.timeout(170)
@pytest.mark.parametrize(
    "locks", ["few", pytest.param("all", marks=pytest.mark.real_slow)]
)
def test_pigz_output_is_checked(
    hasp: Hasp, lock_names: list[str], folder: Path, locks: str
) -> None:
    """In each run, the decompressed file must be identical to the original."""
    pigz = need("pigz", "pigz")
    original, packed = folder / "original", folder / "packed.gz"
    original.write_bytes(b"".join(b"%d %x\n" % (n, n * n) for n in range(100_000)))
    with packed.open("wb") as output:
        subprocess.run([pigz, "-c", original], stdout=output, check=True, timeout=20)
    results = folder / "results.jsonl"
    names = lock_names if locks == "all" else ["glibc", *representatives()]
    finished = hasp(
        *("compare", "--runs", 1, "--warmup", 0, "--timeout", "20s"),
        *("--locks", ",".join(names), "--json", results),
        *("--check", f"cmp - {original}"),
        *("--", pigz, "-p", 2, "-dc", packed),
        timeout=150,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    outcomes = {run["lock"]: run["outcome"] for run in records(results, "run")}
    assert outcomes == dict.fromkeys(names, "ok")
