# SPDX-License-Identifier: MIT
"""Plans: each site gets its lock, and programs that mix locks behave correctly."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from lock_list import records
from preload import matrix

from hasp.locks.site_plan.flatten import flatten
from hasp.locks.site_plan.model import AddressRange, Entry, Module, SitePlan

pytestmark = pytest.mark.timeout(3 * matrix.TIME_LIMIT + 60)

SITES = matrix.PROGRAMS / "sites"

# Programs that must pass under a plan. They cover waits, forks, lifetimes, kinds and
# first uses.
PROGRAMS = (
    *("c11", "cond_lifetime", "cond_queue", "cond_timed", "cond_wakeups", "cxx_sync"),
    "dlopen",
    *("exclusion", "first_contention", "fork_cond", "fork_mutex", "fork_variants"),
    *("kinds", "lifetime", "memory", "ownership", "robust", "sites", "timed"),
)


def build_id(path: Path) -> str:
    """Return the build-id from the file's note, in hexadecimal."""
    with path.open("rb") as file:
        notes = ELFFile(file).get_section_by_name(".note.gnu.build-id").iter_notes()
        return str(next(notes)["n_desc"])


def symbol(path: Path, name: str) -> tuple[int, int]:
    """Return the address range (begin, end) of a function or variable."""
    with path.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        found = next(s for s in table.iter_symbols() if s.name == name)
        begin = int(found["st_value"])
        return begin, begin + int(found["st_size"])


def within(module: Module, name: str) -> AddressRange:
    """Return the range of all return addresses in a function of the program."""
    begin, end = symbol(SITES, name)
    return AddressRange(module, begin + 1, end)


def lock(name: str) -> matrix.Lock:
    return next(lock for lock in matrix.locks() if lock.label == name)


def slot(name: str) -> int:
    """Return the index that a mutex with this lock stores."""
    return 1 + [record["name"] for record in records()].index(name)


def settings(path: Path, plan: SitePlan, **more: str) -> dict[str, str]:
    path.write_text(flatten(plan))
    return {"HASP_PLAN": str(path), **more}


def run_sites(case: str, settings: dict[str, str], default: str = "futex") -> str:
    chosen = matrix.Lock("glibc") if default == "glibc" else lock(default)
    outcome = matrix.run_case("sites", case, chosen, settings)
    assert outcome.status == "passed", outcome
    return outcome.text


def slots(output: str) -> dict[str, int]:
    return {name: int(n) for name, n in re.findall(r"^(\w+)=(\d+)$", output, re.M)}


def every_site(module: Module) -> SitePlan:
    """Return a plan with a different lock for each site of sites.c."""
    offset = symbol(SITES, "global_a")[0]
    wrapper = within(module, "make")
    return SitePlan(
        (
            Entry.of_global("global_a", "ticket", module, offset),
            Entry("one", "mcs", (wrapper, within(module, "make_one"))),
            Entry("other", "clh", (wrapper, within(module, "make_other"))),
            Entry("c11", "ttas", (within(module, "make_c11"),)),
            Entry("first", "mutexee", (within(module, "take_first"),)),
            Entry("tried", "glibc", (within(module, "try_first"),)),
            Entry("timed", "twa", (within(module, "time_first"),)),
            Entry("never", "tas", (AddressRange(module, 1, 2),)),
        ),
        "spinbit",
    )


LOCKS_OF_SITES = {
    "global_a": "ticket",
    "global_b": "spinbit",
    "one": "mcs",
    "other": "clh",
    "c11": "ttas",
    "first": "mutexee",
    "tried": "glibc",
    "timed": "twa",
    "again": "clh",
    "cleared": "mutexee",
}


@pytest.mark.parametrize("with_build_id", [True, False])
def test_every_site_has_its_lock(tmp_path: Path, with_build_id: bool) -> None:
    module = Module("sites", build_id(SITES) if with_build_id else "")
    more = {"HASP_VERBOSE": "1", "HASP_PLAN_REPORT": "1"}
    extra = settings(tmp_path / "plan", every_site(module), **more)
    text = run_sites("by_site", extra, "spinbit")
    assert slots(text) == {name: slot(lock) for name, lock in LOCKS_OF_SITES.items()}
    assert text.count("plan: mcs for one\n") == 1
    assert [line for line in text.splitlines() if "first locked at" in line] == [
        "hasp: plan: no mutex created or first locked at never"
    ]


def test_another_build_gets_the_default_lock(tmp_path: Path) -> None:
    extra = settings(tmp_path / "plan", every_site(Module("sites", "00" * 20)))
    found = slots(run_sites("by_site", {**extra, "HASP_PLAN_REPORT": "1"}))
    assert set(found.values()) == {slot("futex")}


def test_glibc_keeps_its_errors_and_its_estimates(tmp_path: Path) -> None:
    """glibc keeps them both under a plan and as the preloaded default."""
    module = Module("sites")
    names = ("global_a", "global_adaptive")
    plan = SitePlan(
        tuple(
            Entry.of_global(name, "glibc", module, symbol(SITES, name)[0])
            for name in names
        ),
        "mcs",
    )
    extra = settings(tmp_path / "plan", plan)
    for case in ("busy_while_waited", "adaptive_contended"):
        run_sites(case, extra, "mcs")
        run_sites(case, {}, "glibc")
    assert slots(run_sites("adaptive_contended", extra))["adaptive"] == slot("glibc")


def test_two_first_uses_at_once(tmp_path: Path) -> None:
    """If two threads at different sites are first, both use the same lock."""
    extra = settings(tmp_path / "plan", every_site(Module("sites")))
    run_sites("first_use_raced", extra)


def mixed(program: str, locks: tuple[str, str, str]) -> SitePlan:
    """Return a plan that assigns three locks to all symbols, round robin."""
    path = matrix.PROGRAMS / program
    module = Module(program)
    entries = []
    with path.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        sized = [s for s in table.iter_symbols() if s["st_size"]]
    for number, found in enumerate(sorted(sized, key=lambda s: s["st_value"])):
        begin, end = found["st_value"], found["st_value"] + found["st_size"]
        kind, chosen = found["st_info"]["type"], locks[number % 3]
        if kind == "STT_FUNC":
            frame = AddressRange(module, begin + 1, end)
            entries.append(Entry(found.name, chosen, (frame,)))
        elif kind == "STT_OBJECT" and end - begin < 4096:
            place = AddressRange(module, begin, end - 1)
            entries.append(Entry(found.name, chosen, address=place))
    return SitePlan(tuple(entries[-256:]), locks[0])


LONG = {"cond_queue", "cxx_sync"}


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name in LONG else [])
        for name in PROGRAMS
    ],
)
def test_mixed_locks(program: str, tmp_path: Path) -> None:
    if not (matrix.PROGRAMS / program).exists():
        pytest.skip(f"{program} is not built: no C++ compiler")
    extra = settings(
        tmp_path / "plan", mixed(program, ("malthusian-park", "futex", "mcs"))
    )
    outcomes = matrix.run_program(program, matrix.Lock("futex"), extra)
    bad = [outcome for outcome in outcomes if outcome.status in ("failed", "hung")]
    assert not bad, "\n".join(map(str, bad))


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("m - sites\na mutex msc 0 1 1 x\n", "unknown lock algorithm: msc"),
        ("m - sites\na mutx mcs 0 1 1 x\n", "unknown kind of object: mutx"),
        ("a mutex mcs 0 1 1 x\n", "a module is missing"),
        (
            "m - sites\nf mutex mcs 5 0 1 1 0 1 1 0 1 1 0 1 1 0 1 1 x\n",
            "too many frames",
        ),
        ("m - sites\na mutex mcs 0 1g 1 x\n", "not a number: 1g"),
        ("m - sites\na mutex mcs 0\n", "too short"),
        ("m - sites", "truncated"),
        ("z 1\n", "unknown kind of line"),
        ("m - x\n" * 65, "too many modules"),
        ("m - x\n" + "a mutex mcs 0 1 1 x\n" * 257, "too many entries"),
        ("x" * 70000, "too large"),
    ],
)
def test_damaged_file(tmp_path: Path, lines: str, words: str) -> None:
    path = tmp_path / "plan"
    path.write_text(lines)
    env = matrix.environment(lock("mcs"), {"HASP_PLAN": str(path)})
    done = subprocess.run(["true"], env=env, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr


def test_missing_file() -> None:
    env = matrix.environment(lock("mcs"), {"HASP_PLAN": "/none"})
    done = subprocess.run(["true"], env=env, capture_output=True, text=True)
    assert done.returncode == 2
    assert "cannot read /none" in done.stderr
