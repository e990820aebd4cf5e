# SPDX-License-Identifier: MIT
"""How fast machines and processors run one thread, by published scores."""

from __future__ import annotations

from pathlib import Path

import pytest

from hasp.base.document import Document
from hasp.base.errors import HaspError
from hasp.lab.simulate.machines.machine import (
    CONSTANTS_FILE,
    Machine,
    find,
    load,
    names,
    read,
)
from hasp.lab.simulate.processors import generations, source_of, speed_of


def edited(old: str, new: str) -> Machine:
    """Return the machine `a-64` after an edit of its file."""
    text = find("a-64").read_text()
    assert text.count(old) >= 1, old
    document = Document(Path("edited.toml"), text.replace(old, new, 1))
    return read(document, Document.read(CONSTANTS_FILE))


def test_machines_that_have_a_score_have_it_in_the_same_benchmark() -> None:
    speeds = [speed for name in names() if (speed := load(name).speed)]
    assert len(speeds) > 10
    assert {one.benchmark for one in speeds} == {generations()[0]}


def test_a_machine_of_the_table_has_the_score_of_its_processor() -> None:
    for name, processor in {
        "a-64": "AMD Opteron 6272",
        "a-48": "AMD Opteron 6344",
        "i-20": "Intel Xeon E5-2680 v2",
        "haswell-72": "Intel Xeon E5-2699 v3",
        "i7-4770": "Intel Core i7-4770",
        "xeon-64": "Intel Xeon Platinum 8375C",
        "epyc-2x64": "AMD EPYC 7763",
    }.items():
        known, speed = speed_of(processor), load(name).speed
        assert known and speed and known.score == speed.score, name


def test_a_machine_without_a_score_is_valid() -> None:
    assert load("graviton-3").speed is None


def test_bounds_of_a_score_do_not_make_it_an_estimate() -> None:
    speed = load("a-64").speed
    assert speed and (speed.score, speed.low, speed.high) == (753, 753, 918)
    assert not speed.estimated
    other = load("opteron-48").speed
    assert other and other.estimated


@pytest.mark.parametrize(
    ("old", "new", "words", "at"),
    [
        ("score = 753", "score = 0", "speed.score: 0 is out of bounds", "score ="),
        ("score = 753", "score = 'fast'", "'fast' is not a number", "score ="),
        ("score = 753", "score = true", "True is not a number", "score ="),
        ("score = 753\n", "", "speed.score: missing", "[speed]"),
        ("high = 918", "high = 700", "speed.high: does not bound", "high ="),
        ("high = 918", "low = 800\nhigh = 918", "speed.low: does not bound", "high ="),
        ("high = 918", "most = 918", "speed.most: unknown key", "high ="),
        (
            'benchmark = "PassMark single thread"\n',
            "",
            "speed.benchmark: missing",
            "[speed]",
        ),
        ('benchmark = "P', 'benchmark = 7 # "P', "must be text", "benchmark ="),
        ('source = "PASSMARK', 'source = "me', "unknown source", 'source = "PASSMARK'),
    ],
)
def test_an_error_names_file_line_and_key(
    old: str, new: str, words: str, at: str
) -> None:
    with pytest.raises(HaspError) as caught:
        edited(old, new)
    assert words in caught.value.message
    lines = find("a-64").read_text().splitlines()
    line = next(number for number, one in enumerate(lines, 1) if at in one)
    assert f"edited.toml:{line}: " in caught.value.message


@pytest.mark.parametrize(
    ("processor", "score"),
    [
        ("AMD EPYC 7763 64-Core Processor, AuthenticAMD family 25 model 1", 2635),
        ("AMD Opteron(TM) Processor 6272, AuthenticAMD family 21 model 1", 753),
        (
            "Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz, GenuineIntel family 6 "
            "model 106",
            2439,
        ),
        (
            "Intel(R) Xeon(R) CPU E5-2680 v2 @ 2.80GHz, GenuineIntel family 6 model 62",
            1789,
        ),
    ],
)
def test_a_processor_is_known_by_its_name(processor: str, score: float) -> None:
    speed = speed_of(processor)
    assert speed and speed.score == score
    assert not speed.estimated
    assert source_of(processor)


def test_a_name_that_says_little_gives_the_median_of_its_generation() -> None:
    for name in ("AMD EPYC", "AMD EPYC Processor", "AMD EPYC 7R13 Processor"):
        processor = f"{name}, AuthenticAMD family 25 model 1"
        speed = speed_of(processor)
        assert speed and speed.estimated
        assert speed.words == "AMD EPYC of the third generation"
        assert (speed.low, speed.score, speed.high) == (1983, 2665, 2975)
        assert source_of(processor)
    arm = speed_of("implementer 0x41 part 0xd0c")
    assert arm and arm.words == "Arm Neoverse N1"


@pytest.mark.parametrize("processor", ["", "A CPU, Maker family 1 model 2", "unknown"])
def test_other_processors_have_no_score(processor: str) -> None:
    assert speed_of(processor) is None


def test_each_generation_of_the_table_is_found() -> None:
    for one in generations()[1]:
        speed = speed_of(f"Some name, {one.processor}")
        assert speed and speed.words == one.name, one.name
        assert all(score > 0 for score in one.scores.values())
