# SPDX-License-Identifier: MIT
"""hasp.trace.symbols resolves a trace's addresses where its program does not exist."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from trace_samples import Synthetic

from hasp.profile.model.build import load, load_keeping_symbols
from hasp.profile.symbols.cache import path_of
from hasp.profile.trace import format
from hasp.profile.trace.format import ChunkKind

from .test_symbolizer import build


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Return a trace of a lock in a global object, first acquired at the call."""
    built = build(tmp_path, "-gdwarf-5")
    made, module = Synthetic(), built.module
    identity = bytes.fromhex(module.build_id)
    made.add(
        ChunkKind.MODULES,
        begin=module.begin,
        end=module.end,
        bias=module.bias,
        build_id_bytes=len(identity),
        build_id=list(identity),
        path=module.path.encode(),
    )
    later = 4_000_000_000 * 10**9  # later than the source was written
    made.header["begin"]["wall_ns"] = later
    stack = made.stack(module.bias + built.printed["call"])
    address = module.bias + built.printed["static"]
    made.lock(address=address, first_stack=stack, site=stack)
    made.use(site=stack, lock_kind=format.LockKind.MUTEX, acquisitions=3)
    return made.write(tmp_path / "hasp.trace")


def test_a_failed_write_leaves_no_file(trace: Path) -> None:
    # A folder of that name prevents writing.
    trace.with_name(f"{trace.name}.symbols").mkdir()
    before = set(trace.parent.iterdir())
    assert "cannot be written" in load_keeping_symbols(trace).warnings[-1]
    assert set(trace.parent.iterdir()) == before


def move(trace: Path, tmp_path: Path) -> Path:
    """Move the trace and its symbols file; the program is gone."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for path in tmp_path.glob("hasp.trace*"):
        shutil.move(path, elsewhere)
    for path in tmp_path.glob("bank*"):
        path.unlink()
    return elsewhere / trace.name


def test_a_trace_has_the_same_names_on_another_machine(
    trace: Path, tmp_path: Path
) -> None:
    here = load_keeping_symbols(trace)
    assert here.sites[0].expression == "bank::hidden_lock"
    assert here.sites[0].first[0].line
    there = load(move(trace, tmp_path))
    assert there == here


def test_without_the_file_addresses_are_not_resolved(
    trace: Path, tmp_path: Path
) -> None:
    there = load(move(trace, tmp_path))
    assert there.sites[0].name.startswith("bank+0x")
    assert "not here any more" in there.warnings[0]


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:100],
        lambda text: "[]",
        lambda text: text.replace('"frames": {', '"frames": {"zz": 1, '),
        lambda text: text.replace('"data"', '"nothing"'),
        lambda text: text.replace(", 0]", ", 1e999]"),
        lambda text: "\0" * 100,
    ],
)
def test_a_damaged_file_is_not_used(
    trace: Path, tmp_path: Path, damage: object
) -> None:
    load_keeping_symbols(trace)
    kept = path_of(trace)
    kept.write_text(damage(kept.read_text()))  # type: ignore[operator]
    there = load(move(trace, tmp_path))
    assert there.sites[0].name.startswith("bank+0x")
    assert any("damaged" in warning for warning in there.warnings)


def test_the_file_of_another_trace_is_not_used(trace: Path, tmp_path: Path) -> None:
    load_keeping_symbols(trace)
    kept = path_of(trace)
    document = json.loads(kept.read_text())
    document["trace"][1] += 1
    kept.write_text(json.dumps(document))
    there = load(move(trace, tmp_path))
    assert there.sites[0].name.startswith("bank+0x")
    assert any("another trace" in warning for warning in there.warnings)
