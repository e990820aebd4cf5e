# SPDX-License-Identifier: MIT
"""The catalogue is generated from the head comments, and these must be complete."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = (
    "make_lock_catalogue.py",
    "goal_table.py",
    "lock_header.py",
    "executor_figures.py",
    "kind_catalogue.py",
    "lock_data.py",
    "lock_grid.py",
    "lock_pages.py",
    "lock_proofs.py",
    "lock_simulation.py",
    "page_kinds.py",
    "page_markdown.py",
)

COMMENT = """\
/* SPDX-License-Identifier: MIT */
/*
 * Sample lock. A. Author, "Of samples", TOCS 2020.
 *
 * Idea: wait for
 * one's turn.
 *
 * The bits of the word:
 *
 *   HELD       held
 *              by a thread | or not
 *   bits 1..   how many wait
 *
 * A waiter, fields:
 *
 *   next  the one behind it
 *
 * I1. HELD is set by one thread,
 *     the holder.
 * I2. No thread waits for ever.
 * The store pairs with the load.
 *
 * Timed lock: a waiter that gives up says so.
 *
 * Proof: by I2.
 */
#ifndef HASP_LOCKS_SAMPLE_H
"""

LIST = """\
#include "locks/algorithms/sample.h"
LOCK(sample, "sample", "sample_spin", sample, WITH(SPIN), SHOWN_WORD, ADOPT_NONE,
     "direct handoff", "spin", FIFO, SPACE(4, 0), "a sample", "Author, TOCS 2020", "")
LOCK(sample_park, "sample-park", "", sample, WITH(f(1, 2)), SHOWN_WORD, ADOPT_NONE,
     "direct handoff", "spin-then-park", FIFO, SPACE(4, 0), "sample that sleeps",
     "Author, TOCS 2020", "")
"""


def record(name: str, index: int) -> dict[str, Any]:
    return {
        "name": name,
        "index": index,
        "default": False,
        "aliases": [],
        "category": "direct handoff",
        "waiting": "spin",
        "fifo": True,
        "bypasses": False,
        "parks": False,
        "numa": False,
        "light": False,
        "trylock_hardened": True,
        "bypass_bound": 0,
        "bypass_each": False,
        "bytes": 4,
        "waiter_bytes": 128,
        "outside_bytes": 0,
        "node_bytes": 0,
        "summary": "a sample",
        "source": "Author, TOCS 2020",
        "caution": "",
    }


Make = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a tree with the tools, and with one header for two locks."""
    for folder in ("tools", "src/locks/algorithms", "docs/data"):
        (tmp_path / folder).mkdir(parents=True)
    for tool in TOOLS:
        shutil.copy(ROOT / "tools" / tool, tmp_path / "tools")
    (tmp_path / "src/locks/algorithms/sample.h").write_text(COMMENT)
    (tmp_path / "src/locks/locks.def").write_text(LIST)
    lines = [record("sample", 1), record("sample-park", 2)]
    listing = "".join(f"{json.dumps(line)}\n" for line in lines)
    (tmp_path / "locks.jsonl").write_text(listing)
    program = tmp_path / "hasp-locks"
    program.write_text(f"#!/bin/sh\ncat {tmp_path}/locks.jsonl\n")
    program.chmod(0o755)
    return tmp_path


@pytest.fixture
def make(tree: Path) -> Make:
    def run(mode: str) -> subprocess.CompletedProcess[str]:
        tool = tree / "tools/make_lock_catalogue.py"
        command = [sys.executable, str(tool), str(tree / "hasp-locks"), mode]
        return subprocess.run(command, capture_output=True, text=True)

    return run


def page_of(tree: Path, name: str = "sample") -> str:
    return (tree / f"docs/locks/{name}.md").read_text()


def test_a_page_has_the_contents_of_the_comment(tree: Path, make: Make) -> None:
    assert make("--write").returncode == 0
    page = " ".join(page_of(tree).split())
    for words in (
        "Wait for one's turn.",
        "The bits of the word:",
        "| `HELD` | held by a thread \\| or not |",
        "| `bits 1..` | how many wait |",
        "A waiter, fields: | cell | meaning | |---|---| | `next` | the one behind it |",
        "- **I1** HELD is set by one thread, the holder. - **I2** No thread",
        "The store pairs with the load.",
        "**Timed lock.** A waiter that gives up says so.",
        "**Proof.** By I2.",
        '"Of samples", TOCS 2020',
        "`sample_*` of [`src/locks/algorithms/sample.h`]",
        "(../../src/locks/algorithms/sample.h) with `SPIN`. It shares idea,",
        "It shares idea, state and invariants with [sample-park]",
    ):
        assert words in page, words
    assert "with `f(1, 2)`" in page_of(tree, "sample-park")
    index = (tree / "docs/locks.md").read_text()
    assert "## Direct handoff" in index
    assert "[`sample`](locks/sample.md)" in index


def test_missing_data_is_reported(tree: Path, make: Make) -> None:
    make("--write")
    page = page_of(tree)
    for name in ("bench-locks", "check", "mutation"):
        assert f"`docs/data/{name}.json` has no data on this lock" in page


def test_data_of_the_lock_is_shown(tree: Path, make: Make) -> None:
    measured = {
        "lock": "sample",
        "case": "uncontended",
        "threads": 2,
        "value": 12.345,
        "unit": "ns",
        "better": "lower",
        "ratio_to_glibc": 0.54321,
        "ratio_low": 0.5,
        "ratio_high": 0.6,
        "outcome": "ok",
        "runs": 7,
        "command": "hasp bench locks --sample",
        "host": {"cpu_model": "A CPU", "cpus_allowed": 2},
    }
    (tree / "docs/data/bench-locks.json").write_text(json.dumps(measured) + "\n")
    proven = {
        "lock": "sample",
        "client": "reacquire",
        "threads": 3,
        "preemptions": None,
        "complete": True,
        "interrupted": False,
        "states": 56789,
        "iterations": 1234,
        "verdict": "ok",
        "command": "hasp check --time-limit 2s",
    }
    bounded = {**proven, "client": "pair", "complete": False, "preemptions": 2}
    cut = {**bounded, "client": "timeout", "preemptions": None, "verdict": "race"}
    lines = [json.dumps(record) for record in (proven, bounded, cut)]
    (tree / "docs/data/check.json").write_text("\n".join(lines) + "\n")
    mutants = {
        "lock": "sample",
        "mutants": 12,
        "caught": 9,
        "survive_for_a_reason": 2,
        "open": 1,
    }
    (tree / "docs/data/mutation.json").write_text(json.dumps(mutants) + "\n")
    make("--write")
    page = page_of(tree)
    assert "| uncontended pair | 2 | 12.3 ns | less | 0.543 | 0.5 to 0.6 |" in page
    assert "`hasp bench locks --sample` on A CPU, 2 CPUs" in page
    assert "| reacquire | 3 | all schedules | 56,789 | 1,234 | ok |" in page
    assert "| pair | 3 | all schedules with up to 2 preemptions |" in page
    assert "Measured by `hasp check --time-limit 2s`" in page
    assert "| timeout | 3 | some schedules |" in page
    assert "has 12 mutants" in page
    assert "The checks catch 9, 2 survive" in " ".join(page.split())
    assert "has no data" in page_of(tree, "sample-park")
    index = (tree / "docs/locks.md").read_text()
    assert "| 0.543 | 2 of 3 |" in index


@pytest.mark.parametrize(
    ("wrong", "right", "complaint"),
    [
        (" * Idea: wait for\n", " * Wait for\n", "lacks the paragraph `Idea: ...`"),
        ("   HELD       held\n", " HELD: held\n", "the state table"),
        (" * I1. HELD", " * First, HELD", "the invariants are I2"),
        (" * I2. No thread", " * I3. No thread", "the invariants are I1, I3"),
        ("/*\n * Sample", "#if 0\n * Sample", "no head comment"),
    ],
)
def test_an_incomplete_comment_is_refused(
    tree: Path, make: Make, wrong: str, right: str, complaint: str
) -> None:
    header = tree / "src/locks/algorithms/sample.h"
    text = COMMENT.replace(wrong, right, 1)
    assert text != COMMENT
    if complaint == "the state table":
        text = text.replace("   bits 1..   how many wait\n", " bits 1..\n")
        text = text.replace("   next  the one", " next, the one")
    header.write_text(text)
    done = make("--check")
    assert done.returncode == 1
    assert "src/locks/algorithms/sample.h" in done.stderr
    assert complaint in done.stderr


def test_an_entry_without_a_header_is_refused(tree: Path, make: Make) -> None:
    listing = tree / "src/locks/locks.def"
    listing.write_text(LIST.replace('#include "locks/algorithms/sample.h"\n', ""))
    done = make("--write")
    assert done.returncode == 1
    assert "locks.def: the entry sample" in done.stderr


def test_outdated_pages_are_found_and_rewritten(tree: Path, make: Make) -> None:
    assert make("--check").returncode == 1
    make("--write")
    assert make("--check").returncode == 0
    page = tree / "docs/locks/sample.md"
    page.write_text(page.read_text().replace("one's turn", "nothing"))
    (tree / "docs/locks/gone.md").write_text("# gone\n")
    done = make("--check")
    assert done.returncode == 1
    assert "docs/locks/sample.md is out of date" in done.stderr
    assert "docs/locks/gone.md is out of date" in done.stderr
    make("--write")
    assert make("--check").returncode == 0
    assert not (tree / "docs/locks/gone.md").exists()


KIND_LISTS = {
    "spinlock": """\
#include "spinlocks/algorithms/sample.h"
SPINLOCK(sample, "sample", sample, sample_lock(lock, EAGER), "competitive", "spin",
         FIFO, "a sample", "Author, TOCS 2020", "")
""",
    "barrier": """\
#include "barriers/algorithms/sample.h"
BARRIER(sample, "sample", sample, "central", 0, "a sample", "Author, TOCS 2020", "")
""",
}


@pytest.mark.parametrize("kind", KIND_LISTS)
def test_other_kinds_have_pages_of_their_own(tree: Path, make: Make, kind: str) -> None:
    sources = tree / f"src/{kind}s"
    (sources / "algorithms").mkdir(parents=True)
    comment = COMMENT.replace(" * I1.", " * S1.").replace(" * I2.", " * S2.")
    (sources / "algorithms/sample.h").write_text(comment)
    (sources / f"{kind}s.def").write_text(KIND_LISTS[kind])
    with (tree / "locks.jsonl").open("a") as listing:
        listing.write(json.dumps({**record("sample", 1), "kind": kind}) + "\n")
    checked = {"kind": kind, "lock": "sample", "client": "pair", "threads": 2}
    checked |= {"complete": True, "states": 7, "iterations": 1, "verdict": "ok"}
    checked["command"] = f"hasp check --kind {kind}"
    (tree / f"docs/data/check-{kind}s.json").write_text(json.dumps(checked) + "\n")
    assert make("--write").returncode == 0
    page = (tree / f"docs/{kind}s/sample.md").read_text()
    assert f"hasp run --{kind} sample" in page
    assert "- **S1** HELD is set" in page
    assert "| pair | 2 | all schedules | 7 | 1 | ok |" in page
    assert f"Family: [direct handoff](../{kind}s.md)" in page
    index = (tree / f"docs/{kind}s.md").read_text()
    assert f"[`sample`]({kind}s/sample.md)" in index
    assert "all schedules" not in page_of(tree)  # the mutex of the same name
