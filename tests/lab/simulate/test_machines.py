# SPDX-License-Identifier: MIT
"""Tests the machine files of Hasp, and the positions reported for errors in others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lock_list import ROOT

from hasp.base.document import Document
from hasp.base.errors import HaspError
from hasp.cli.main import main
from hasp.lab.simulate.machines.flat import flatten
from hasp.lab.simulate.machines.machine import (
    CONSTANTS_FILE,
    Machine,
    find,
    load,
    names,
    read,
)
from hasp.lab.simulate.machines.schema import (
    CONSTANTS,
    FIGURES,
    OPERATIONS,
    STATES,
    TRANSACTIONS,
)
from hasp.lab.simulate.machines.wakeups import KEYS, TABLE, Wakeup

EXPECTED = [
    *("a-48", "a-64", "arm-128", "epyc-192", "epyc-256", "epyc-2x64", "epyc-48"),
    *("graviton-3", "graviton-4", "haswell-72", "i-20", "i-48", "i7-4770"),
    *("niagara-64", "opteron-48", "tilera-36", "xeon-36", "xeon-64", "xeon-80"),
]
SSYNC = ("opteron-48", "xeon-80", "niagara-64", "tilera-36")


def test_all_machines_load_and_flatten() -> None:
    assert names() == EXPECTED
    for name in names():
        machine = load(name)
        keys = [line.split()[0] for line in flatten(machine).splitlines()]
        assert keys.count("latency") == len(OPERATIONS) * len(STATES)
        assert keys.count("between_places") == machine.topology.places
        single = [key for key in keys if key not in ("latency", "between_places")]
        assert len(single) == len(set(single))


def test_the_flat_keys_are_those_that_the_simulator_reads() -> None:
    header = ROOT / "src/simulator/machine.h"
    if not header.is_file():
        pytest.skip("there is no simulator yet")
    text = header.read_text().partition("#ifndef")[0]
    documented = set(
        re.findall(
            r"\b(?:local|model|scheduler|power|sharers|transactions)"
            r"\.\w+",
            text,
        )
    )
    flat = flatten(load("i7-4770"))
    written = {line.split()[0] for line in flat.splitlines() if "." in line.split()[0]}
    assert written == documented


def test_a_mesh_is_expanded_hop_by_hop() -> None:
    tilera = load("tilera-36")
    row = tilera.topology.expand(tilera.latencies["load", "modified"])
    assert len(row) == 11 and row[1] == 45 and row[10] == 65
    assert row == sorted(row)
    assert tilera.topology.between_places[0][35] == 10
    assert tilera.topology.between_places[7][7] == 0


def test_distances_are_the_published_ones() -> None:
    opteron, xeon = load("opteron-48").topology, load("xeon-80").topology
    for topology in (opteron, xeon):
        most = len(topology.distances) - 1
        assert all(max(row) == most for row in topology.between_places)
    assert opteron.between_places[0].count(2) == 3
    assert xeon.between_places[0].count(1) == 3


def test_missing_rows_are_copied() -> None:
    machine = load("opteron-48")
    rows = machine.latencies
    assert rows["fetch_add", "exclusive"] == rows["fetch_add", "modified"]
    assert rows["fetch_add", "owned"] == rows["fetch_add", "shared"]
    assert rows["fetch_add", "invalid"] == rows["load", "invalid"]


@pytest.mark.parametrize("name", SSYNC)
def test_no_figure_of_the_published_tables_is_an_estimate(name: str) -> None:
    machine = load(name)
    assert not [
        key for key in machine.estimates if key.startswith(("latency", "local"))
    ]


def variant(old: str, new: str, name: str = "opteron-48") -> Machine:
    """Return the machine in an edited file."""
    text = find(name).read_text()
    assert text.count(old) >= 1, old
    return read(
        Document(Path("edited.toml"), text.replace(old, new, 1)),
        Document.read(CONSTANTS_FILE),
    )


def line_with(text: str, name: str = "opteron-48") -> int:
    lines = find(name).read_text().splitlines()
    return next(at for at, line in enumerate(lines, 1) if text in line)


@pytest.mark.parametrize(
    ("old", "new", "words", "at"),
    [
        (
            "same_mcm = 161, ",
            "",
            "latency.load.modified.same_mcm: missing",
            "same_mcm = 161",
        ),
        ("two_hops = 252", "two_hops = -1", "-1 is negative", "two_hops = 252"),
        ("two_hops = 252", "two_hops = 2.5", "not a whole number", "two_hops = 252"),
        ("two_hops = 252", "2_hops = 9, two_hops = 252", "unknown distance", "= 252"),
        (
            "  [0, 1, 2, 3, 2",
            "  [0, 1, 2, 7, 2",
            "unknown distance 7",
            "between_places = [",
        ),
        (
            "  [0, 1, 2, 3, 2",
            "  [0, 2, 2, 3, 2",
            "differs from the opposite entry",
            "between_places = [",
        ),
        (
            "  [0, 1, 2, 3, 2",
            "  [1, 1, 2, 3, 2",
            "1 is not allowed",
            "between_places = [",
        ),
        ("cpus = 48", "cpus = 50", "50 CPUs cannot be divided", "cpus = 48"),
        ("cpus = 48", "cpus = -2", "-2 is not a count", "cpus = 48"),
        ("places = 8", "places = 7", "7 rows of 7", "between_places = ["),
        ("numa_nodes = 8", "numa_nodes = 3", "3 NUMA nodes", "numa_nodes = 8"),
        ("llc = 40\n", "", "local.llc: missing", "[local]"),
        ("l1 = 3", "l1 = 0", "0 is out of bounds", "l1 = 3"),
        ("mhz = 2100", "mhz = true", "True is not a whole number", "mhz = 2100"),
        ("[sharers]", "[shavers]", "unknown table", "[sharers]"),
        ("llc = 40", "l3 = 40", "local.l3: unknown key", "llc = 40"),
        (
            "[latency.fetch_add]",
            "[latency.fetch_sub]",
            "unknown operation",
            "[latency.fetch_add]",
        ),
        ('kind = "moesi', 'kind = "mosi', "unknown value 'mosi-broadcast'", "kind ="),
        ('source = "SSYNC, table 3"', 'source = "me"', "unknown source", "table 3"),
        ('source = "SSYNC, table 3"\n', "", "local.source: missing", "[local]"),
        ("power = ", "powers = ", "unknown table or key", "power = "),
        ("schema = 1", "schema = 2", "unknown version", "schema = 1"),
    ],
)
def test_an_error_names_file_line_and_key(
    old: str, new: str, words: str, at: str
) -> None:
    with pytest.raises(HaspError) as caught:
        variant(old, new)
    assert words in caught.value.message
    lines = [line.strip() for line in caught.value.message.splitlines()]
    place = f"edited.toml:{line_with(at)}: "
    assert any(line.startswith(place) and words in line for line in lines)
    assert caught.value.remedy


WAKEUPS = """
[wakeups]
source = "SSYNC, by how long the CPU was idle"
idle_us = [0, 5, 100]
futex_wake = [6000, 7000, 60000]
waking = [500, 0, 2500]
"""


def with_wakeups(old: str = "", new: str = "") -> Machine:
    text = find("opteron-48").read_text() + WAKEUPS
    assert old in text
    document = Document(Path("edited.toml"), text.replace(old, new))
    return read(document, Document.read(CONSTANTS_FILE))


def test_wakeups_by_idle_time_are_for_the_simulator() -> None:
    made = with_wakeups()
    assert made.wakeups[1] == Wakeup(5, 7000, 0)
    lines = flatten(made).splitlines()
    assert lines[1:-3] == flatten(load("opteron-48")).splitlines()[1:]  # but the name
    assert lines[-3:] == [
        *("wakeup 0 6000 500", "wakeup 10500 7000 0", "wakeup 210000 60000 2500")
    ]
    assert not any("wakeup" in flatten(load(name)) for name in names())


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("idle_us = [0, 5, 100]", "", "wakeups.idle_us: missing"),
        ("waking = [500, 0, 2500]", "", "wakeups.waking: missing"),
        ("[0, 5, 100]", "5", "wakeups.idle_us: must be a list"),
        ("[0, 5, 100]", "[]", "wakeups.idle_us: must be a list"),
        ("[0, 5, 100]", "[1, 5, 100]", "the first idle time is 1"),
        ("[0, 5, 100]", "[0, 100, 5]", "the idle times do not increase"),
        ("[0, 5, 100]", "[0, 5, 5]", "the idle times do not increase"),
        ("[0, 5, 100]", "[0, 5]", "futex_wake: 3 numbers, but idle_us has 2"),
        ("[500, 0, 2500]", "[500, 0]", "waking: 2 numbers, but idle_us has 3"),
        ("[500, 0, 2500]", "[500, -1, 2500]", "waking: -1 is out of bounds"),
        ("[6000,", "[0,", "futex_wake: 0 is out of bounds"),
        ("[6000,", "[6e3,", "futex_wake: 6000.0 is not a whole number"),
        ("[6000,", "[true,", "futex_wake: True is not a whole number"),
        ("[0, 5, 100]", str(list(range(33))), "idle_us: 33 numbers"),
        ("waking = [", "walking = [", "wakeups.walking: unknown key"),
        ('source = "SSYNC, by how', 'source = "me, by how', "unknown source"),
        ("[wakeups]", "[[wakeups]]", "wakeups: must be a table"),
    ],
)
def test_a_wrong_table_of_wakeups_is_refused(old: str, new: str, words: str) -> None:
    with pytest.raises(HaspError) as caught:
        with_wakeups(old, new)
    assert words in caught.value.message
    assert "edited.toml:" in caught.value.message
    assert caught.value.remedy


def test_broken_toml_names_its_line() -> None:
    with pytest.raises(HaspError, match=r"edited.toml: .*line 3"):
        Document(Path("edited.toml"), "a = 1\n\nb = = 2\n")


def test_similar_names_are_suggested_for_an_unknown_machine() -> None:
    with pytest.raises(HaspError, match="no machine called 'xeon'") as caught:
        load("xeon")
    assert "did you mean xeon-80" in caught.value.remedy


def test_every_key_is_documented() -> None:
    page = (ROOT / "docs/machines.md").read_text()
    for figure in (*FIGURES, *CONSTANTS, *TRANSACTIONS):
        assert f"`{figure.table}.{figure.key}`" in page
    for key in KEYS:
        assert f"`{TABLE}.{key}`" in page
    for name in names():
        assert f"`{name}`" in page


SHORT = """\
schema = 1
title = "a server"
sources = { MINE = "hasp machine, here" }
clock = { source = "MINE", mhz = 2400 }
topology = { source = "MINE", sockets = 2, dies = 3, cores = 4 }
latency = { source = "MINE", same_die = 50, same_socket = 250, other_socket = 450 }
local = { source = "MINE", l1 = 4, l2 = 14, llc = 45, ram = 250 }
"""


def short(old: str = "", new: str = "") -> Machine:
    assert old in SHORT
    text = SHORT.replace(old, new, 1)
    document = Document(Path("short.toml"), text)
    return read(document, Document.read(CONSTANTS_FILE))


def test_seven_lines_describe_a_server() -> None:
    made = short()
    topology = made.topology
    assert (topology.cpus, topology.places, topology.numa_nodes) == (24, 6, 2)
    assert topology.between_places[0] == (0, 1, 1, 2, 2, 2)
    assert topology.between_places[5] == (2, 2, 2, 1, 1, 0)
    assert made.latencies["compare_exchange", "modified"] == (50, 250, 450)
    assert made.latencies["load", "modified"] == (45, 225, 405)
    assert made.latencies["load", "shared"] == (45, 225, 405)
    assert made.latencies["load", "invalid"] == (250, 250, 430)
    assert {"power", "sharers", "protocol", "latency.load"} <= set(made.estimates)
    assert "latency.exchange" not in made.estimates
    assert made.protocol == "moesi-grouped"
    assert load("graviton-3").protocol == "moesi-directory"  # one die a socket
    flatten(made)


def test_locks_see_what_the_file_says() -> None:
    assert "\ncohorts 0\n" in flatten(short())
    given = short("cores = 4 }", 'cores = 4, cohorts = "node" }')
    assert "\ncohorts 2\n" in flatten(given)
    assert "\ncohorts 2\n" in flatten(load("arm-128"))  # tiles have no such cache
    with pytest.raises(HaspError, match="unknown cohorts 'die'"):
        short("cores = 4 }", 'cores = 4, cohorts = "die" }')


def test_a_count_outside_its_limits_is_named_with_them() -> None:
    with pytest.raises(HaspError, match="0 is not a whole number from 1 to 2048"):
        short("dies = 3", "dies = 0")


def test_only_an_estimate_is_called_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "short.toml"
    file.write_text(SHORT)
    run = ["--locks", "mcs", "--threads", "1", "--duration", "10us"]
    assert main(["simulate", "--machine", str(file), *run]) == 0
    said = capsys.readouterr().out
    assert "Its loads and stores are derived" in said
    assert "estimates" not in said
    assert main(["simulate", "--machine", "epyc-192", *run]) == 0
    assert "Its latencies are estimates" in capsys.readouterr().out


def test_estimates_by_whoever_wrote_the_file_are_told_from_derivations() -> None:
    assert not short().estimated
    assert not load("graviton-3").estimated
    assert load("epyc-192").estimated
    words = 'sources = { MINE = "x" }\nestimates = { latency = "a guess" }'
    guessed = short('sources = { MINE = "hasp machine, here" }', words)
    assert guessed.latency_words == "Its latencies are estimates."
    words = '"latency.load.invalid" = "as on another one"\npower'
    assert variant("power", words).latency_words.startswith("Some of its latencies")


def test_a_wrong_number_is_reported_at_its_key_alone() -> None:
    with pytest.raises(HaspError, match=r"^short.toml:7: local\.ram: -4 is negative"):
        short("ram = 250", "ram = -4")


def test_a_farther_level_is_not_the_faster_one() -> None:
    with pytest.raises(HaspError, match="same_socket: 25 is less than the 50 of"):
        short("same_socket = 250", "same_socket = 25")
    assert short("same_socket = 250", "same_socket = 50")


def test_levels_that_the_machine_lacks_are_not_asked_for() -> None:
    text = SHORT.replace("sockets = 2, dies = 3", "sockets = 1, dies = 1")
    text = text.replace(", same_socket = 250, other_socket = 450", "")
    one = read(Document(Path("one.toml"), text), Document.read(CONSTANTS_FILE))
    assert one.topology.distances == ("same_die",)


def test_a_short_machine_with_unknown_levels_is_refused() -> None:
    with pytest.raises(HaspError, match="unknown level"):
        short("same_die = 50", "same_die = 50, next_die = 70")


def test_all_errors_of_a_short_file_are_told_at_once() -> None:
    with pytest.raises(HaspError) as caught:
        short("dies = 3, cores = 4 }\nlatency", "dies = 0, kores = 4 }\nlatency")
    said = caught.value.message
    assert said.startswith("3 errors in a machine file")
    for words in ("kores: unknown key", "dies: 0 is not", "topology.cores: missing"):
        assert words in said


def test_errors_of_a_short_file_are_told_with_those_of_its_other_tables() -> None:
    with pytest.raises(HaspError) as caught:
        short("dies = 3, cores = 4 }\nlatency", "dies = 3 }\nwat = 1\nlatency")
    said = caught.value.message
    for words in ("topology.cores: missing", "wat: unknown table"):
        assert words in said
    with pytest.raises(HaspError, match=r"local\.ram: missing"):
        short(", ram = 250", "")


def test_all_errors_of_a_long_file_are_told_at_once() -> None:
    text = find("opteron-48").read_text()
    text = text.replace("llc = 40", "l3 = 40").replace("mhz = 2100", 'mhz = "fast"')
    with pytest.raises(HaspError) as caught:
        read(Document(Path("edited.toml"), text), Document.read(CONSTANTS_FILE))
    said = caught.value.message
    for words in ("local.l3: unknown key", "local.llc: missing", "clock.mhz: 'fast'"):
        assert words in said
