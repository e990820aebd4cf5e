# SPDX-License-Identifier: MIT
"""Tests `hasp run --plan` and `hasp compare --plan`, also after program changes."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from lock_list import records

from hasp.locks.site_plan.model import Entry, Module, SitePlan
from hasp.locks.site_plan.modules import build_id, code_of_line, variable
from hasp.locks.site_plan.toml_file import save

SOURCE = (Path(__file__).parent / "program.c").read_text()
SITE_LINE = 1 + SOURCE[: SOURCE.index("/* the site */")].count("\n")


def build(folder: Path, source: str = SOURCE, *options: str) -> Path:
    """Compile the program in the folder, and return its path."""
    path = folder / "program.c"
    path.write_text(source)
    words = ["cc", "-g", "-O2", *options, "-o", folder / "program", path, "-pthread"]
    subprocess.run(words, check=True)
    return folder / "program"


def planned(program: Path) -> Path:
    """Write a plan for this build of the program, and return its path."""
    module = Module(program.name, build_id(program))
    ranges = code_of_line(program, "program.c", SITE_LINE, "&db->mu")
    address = variable(program, "cache_lock")
    assert ranges and address and module.build_id
    # The call is at the end of one of the line's address ranges; find it by
    # disassembly.
    dump = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", program], capture_output=True, text=True
    ).stdout.splitlines()
    calls = [n for n, line in enumerate(dump) if "<pthread_mutex_init@plt>" in line]
    call = next(n for n in calls if "call" in dump[n])
    behind = int(dump[call + 1].split(":")[0], 16)
    assert any(begin < behind <= end for begin, end in ranges)
    plan = SitePlan(
        (
            Entry.created_at(
                f"program.c:{SITE_LINE} &db->mu", "mcs", [(module, behind)]
            ),
            Entry.of_global("cache_lock", "ticket", module, address),
        ),
        "clh",
    )
    path = program.parent / "hasp.plan.toml"
    save(plan, path)
    return path


def slot(name: str) -> int:
    return 1 + [record["name"] for record in records()].index(name)


def says(db: str, cache: str) -> str:
    return f"db {slot(db)} cache {slot(cache)}\n"


def run(hasp: Any, plan: Path, program: Path) -> tuple[str, list[str]]:
    done = hasp("run", "--plan", str(plan), "--", str(program))
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr.splitlines()


def test_as_planned(hasp: Any, tmp_path: Path) -> None:
    program = build(tmp_path)
    assert run(hasp, planned(program), program) == (says("mcs", "ticket"), [])


def test_the_code_moved(hasp: Any, tmp_path: Path) -> None:
    """In another build of the same lines, both sites are located, with a note."""
    program = build(tmp_path)
    plan = planned(program)
    build(tmp_path, SOURCE.replace("int main", "int more[64];\nint main"), "-O1")
    out, notes = run(hasp, plan, program)
    assert out == says("mcs", "ticket")
    assert notes == [
        f"hasp: plan: {site}: program is not the build of the plan; located it by name"
        for site in (f"program.c:{SITE_LINE} &db->mu", "cache_lock")
    ]


def test_the_line_moved(hasp: Any, tmp_path: Path) -> None:
    """The line and the global have changed, so both mutexes get the default lock."""
    program = build(tmp_path)
    plan = planned(program)
    build(tmp_path, "\n" + SOURCE.replace("cache_lock", "other_lock"))
    out, notes = run(hasp, plan, program)
    assert out == says("clh", "clh")
    assert [note[-11:] for note in notes] == ["left it out"] * 2


@pytest.mark.parametrize("name", ["program-1.2", "program"])
@pytest.mark.parametrize("known", [True, False])
def test_started_through_a_symbolic_link(
    hasp: Any, tmp_path: Path, name: str, known: bool
) -> None:
    """A plan without a build-id may name the link or the file."""
    file = build(tmp_path).rename(tmp_path / "program-1.2")
    program = tmp_path / "program"
    program.symlink_to(file.name)
    plan = planned(file)
    text = re.sub(r"build_id = .*\n", "", plan.read_text())
    plan.write_text(text.replace('"program-1.2"', f'"{name}"'))
    started = program
    if not known:  # started by a shell, whose libraries are not the program's
        started = tmp_path / "script"
        started.write_text(f'#!/bin/sh\nexec "{program}"\n')
        started.chmod(0o755)
    assert run(hasp, plan, started) == (says("mcs", "ticket"), [])


def test_plan_from_a_pipe(hasp: Any, tmp_path: Path) -> None:
    """Each command reads a plan once; a pipe without a writer is refused."""
    program = build(tmp_path)
    plan = planned(program)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    command = ["--", str(program)]
    for words in (["run"], ["compare", "--runs=1", "--warmup=0", "--locks=futex"]):
        with subprocess.Popen(["sh", "-c", 'cat "$1" > "$2"', "-", plan, pipe]):
            done = hasp(*words, "--plan", str(pipe), *command)
        assert done.returncode == 0, done.stderr
    done = hasp("run", "--plan", str(pipe), *command)
    assert (done.returncode, done.stdout) == (2, "")
    assert "a pipe without a writer" in done.stderr


def test_nothing_of_the_site_is_made(hasp: Any, tmp_path: Path) -> None:
    program = build(tmp_path)
    plan = planned(program)
    text = plan.read_text()
    plan.write_text(re.sub(r"offsets = .*", "offsets = [0x10]", text))
    out, notes = run(hasp, plan, program)
    assert out == says("clh", "ticket")
    assert notes == [
        f"hasp: plan: no mutex created or first locked at program.c:{SITE_LINE} &db->mu"
    ]


def test_a_wrong_plan_is_refused(hasp: Any, tmp_path: Path) -> None:
    program = build(tmp_path)
    plan = planned(program)
    plan.write_text(plan.read_text().replace('"mcs"', '"msc"'))
    done = hasp("run", "--plan", str(plan), "--", str(program))
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        "hasp.plan.toml:7: lock 1: lock: there is no lock called 'msc'" in done.stderr
    )
    done = hasp("compare", "--plan", str(plan), "--", str(program))
    assert (done.returncode, done.stdout) == (2, "")
    done = hasp("run", "--plan", str(plan), "--lock", "mcs", "--", str(program))
    assert done.returncode == 2


def test_damaged_programs_are_not_known(tmp_path: Path) -> None:
    """Damaged tables do not cause a crash; the damage is the same in each run."""
    program = build(tmp_path)
    whole = program.read_bytes()
    chance = random.Random(3)
    for _ in range(30):
        data = bytearray(whole)
        # The damage is mostly in the section table, at the end of the file.
        begin = chance.choice((0, len(data) - 40 * 64))
        for _ in range(chance.choice((1, 10, 100))):
            data[chance.randrange(begin, len(data))] = chance.randrange(256)
        program.write_bytes(data)
        build_id(program)
        variable(program, "cache_lock")
        code_of_line(program, "program.c", SITE_LINE, "&db->mu")


@pytest.mark.timeout(120)
@pytest.mark.slow
def test_one_more_candidate(hasp: Any, tmp_path: Path) -> None:
    program = build(tmp_path)
    plan = planned(program)
    found = tmp_path / "found.jsonl"
    words = ["--locks", "mcs", "--plan", str(plan), "--runs", "1", "--warmup", "0"]
    words += ["--metric", "db=db ([0-9]+)", "--json", str(found)]
    done = hasp("compare", *words, "--", str(program))
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in found.read_text().splitlines()]
    runs = {line["lock"]: line for line in lines if line["kind"] == "run"}
    assert set(runs) == {"glibc", "mcs", f"plan:{plan}"}
    assert runs[f"plan:{plan}"]["figures"] == {"db": slot("mcs")}
    assert "plan:" in hasp("compare", "--from", str(found)).stdout
