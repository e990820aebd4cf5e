# SPDX-License-Identifier: MIT
"""The proofs beside a trace: kept, merged, recognised as stale, refused if damaged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hasp.base.errors import HaspError
from hasp.profile.model.proofs import LockProof, Subject, add, path_of, read, valid

SERVER = Subject("server", "ab12", 8, 2, 1)
PROOF = LockProof(
    lock="mcs",
    verdict="behind",
    ratio=0.83,
    low=0.79,
    high=0.87,
    runs=7,
    metric="ops",
    host="here",
    measured="2026-01-02T03:04:05+00:00",
    subject=SERVER,
)


def test_what_is_added_is_read_and_newer_proofs_replace_older_ones(
    tmp_path: Path,
) -> None:
    trace = tmp_path / "hasp.trace"
    assert read(trace) == ()
    assert add(trace, [PROOF]) == tmp_path / "hasp.trace.proofs.json"
    other = replace(PROOF, subject=replace(SERVER, threads=2))
    better = replace(PROOF, ratio=1.2, verdict="best")
    add(trace, [other, better])
    assert set(read(trace)) == {better, other}
    assert [path.name for path in tmp_path.iterdir()] == ["hasp.trace.proofs.json"]


def test_all_processes_of_a_run_share_the_file(tmp_path: Path) -> None:
    add(tmp_path / "hasp.trace", [PROOF])
    assert read(tmp_path / "hasp.trace.2") == (PROOF,)
    assert path_of(Path("a/my.trace")).name == "my.trace.proofs.json"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"executable": "client"}, "of another program, server"),
        ({"build_id": "ffff"}, "of another build of server"),
        ({"threads": 4}, "with 8 threads instead of 4"),
        ({"cpus": 16}, "on 2 CPUs instead of 16"),
        ({"nodes": 2}, "on 1 NUMA nodes instead of 2"),
    ],
)
def test_a_stale_proof_is_told(change: dict[str, str | int], words: str) -> None:
    now = replace(SERVER, **change)  # type: ignore[arg-type]
    held, why = valid([PROOF], now)
    assert held == ()
    assert why == f"1 proof is ignored: measured {words}"
    assert valid([PROOF], SERVER) == ((PROOF,), "")


def test_pools_of_nearly_the_same_size_are_the_same() -> None:
    many = replace(PROOF, subject=replace(SERVER, threads=100))
    assert valid([many], replace(SERVER, threads=95))[0] == (many,)
    assert valid([many], replace(SERVER, threads=80))[0] == ()


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", '{"schema": "hasp.proofs/9"}', '{"schema": "hasp.proofs/1"}'],
)
def test_a_damaged_file_is_refused_and_replaced(tmp_path: Path, text: str) -> None:
    trace = tmp_path / "hasp.trace"
    path_of(trace).write_text(text)
    with pytest.raises(HaspError, match=r"proofs\.json is damaged"):
        read(trace)
    add(trace, [PROOF])
    assert read(trace) == (PROOF,)


def test_the_words_have_the_interval_only_if_there_is_one() -> None:
    assert PROOF.words == "0.83 times (0.79 to 0.87)"
    assert replace(PROOF, low=None, high=None).words == "0.83 times"
