# SPDX-License-Identifier: MIT
"""Plan files can be written and read, and errors in them are located."""

from __future__ import annotations

from pathlib import Path

import pytest

from hasp.base.errors import HaspError
from hasp.locks.site_plan.flatten import flatten
from hasp.locks.site_plan.model import AddressRange, Entry, Module, SitePlan
from hasp.locks.site_plan.toml_file import load, save

SERVER = Module("server", "9f3c00")
LIBRARY = Module("libuv.so.1")
PLAN = SitePlan(
    (
        Entry.created_at(
            'db.c:88 &db->"mu"\\', "mcs", [(SERVER, 0x1234), (SERVER, 0x99)]
        ),
        Entry.created_at("uv", "ticket", [(LIBRARY, 0x10), (SERVER, 0x20)]),
        Entry.of_global("cache_lock", "glibc", SERVER, 0x4040),
    ),
    "clh",
)

GOOD = """\
version = 1
default = "mcs"

[[lock]]
site = "a.c:1 &m"
lock = "ticket"
module = "a.out"
offsets = [1, 2]

[[lock]]
site = "b.c:1 &m"
lock = "ticket"
module = "a.out"
address_offset = 5
"""


def test_written_and_read(tmp_path: Path) -> None:
    save(PLAN, tmp_path / "hasp.plan.toml")
    assert load(tmp_path / "hasp.plan.toml") == PLAN


def test_flat_form() -> None:
    ranged = Entry("r", "mcs", (AddressRange(LIBRARY, 3, 9),))
    lines = flatten(SitePlan((*PLAN.entries, ranged), "clh")).splitlines()
    assert lines == [
        "m 9f3c00 server",
        "m - libuv.so.1",
        'f mutex mcs 2 0 1234 1234 0 99 99 db.c:88 &db->"mu"\\',
        "f mutex ticket 2 1 10 10 0 20 20 uv",
        "a mutex glibc 0 4040 4040 cache_lock",
        "f mutex mcs 1 1 3 9 r",
    ]


def test_defaults(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text("version = 1\n")
    assert load(path) == SitePlan((), "futex")


def test_too_many(tmp_path: Path) -> None:
    entries = [Entry.of_global("x", "mcs", SERVER, n) for n in range(257)]
    with pytest.raises(HaspError, match="too large"):
        flatten(SitePlan(tuple(entries), "mcs"))
    modules = [Entry.of_global("x", "mcs", Module(str(n)), n) for n in range(65)]
    with pytest.raises(HaspError, match="65 modules"):
        flatten(SitePlan(tuple(modules), "mcs"))


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("version = 1", "version = 2", 1, "version: must be 1"),
        ("version = 1", "", 1, "version: is missing"),
        ('default = "mcs"', 'default = "msc"', 2, "default: there is no lock"),
        ('default = "mcs"', 'color = "mcs"', 2, "not a key of a plan"),
        ('"b.c:1 &m"\nlock = "ticket"', '"b.c:1 &m"\nlock = "tiket"', 12, "no lock"),
        ('"b.c:1 &m"\nlock = "ticket"', '"b.c:1 &m"\nlock = 7', 12, "name of a lock"),
        ("address_offset = 5", "address_offset = -5", 14, "must be an address"),
        ("address_offset = 5", "address_offset = true", 14, "must be an address"),
        ("address_offset = 5", "offsets = []", 14, "list of 1 to 4"),
        ("address_offset = 5", "offsets = [1, 2, 3, 4, 5]", 14, "list of 1 to 4"),
        ("address_offset = 5", 'offsets = ["1"]', 14, "must be an address"),
        (
            "address_offset = 5",
            "address_offset = 5\noffsets = [1]",
            1,
            "exactly one of",
        ),
        ("address_offset = 5", "", 11, "exactly one of"),
        (
            "address_offset = 5",
            'address_offset = 5\nkind = "rwlok"',
            15,
            "no kind of lock",
        ),
        (
            "address_offset = 5",
            'address_offset = 5\nkind = "spinlock"',
            15,
            "the same algorithm",
        ),
        (
            "address_offset = 5",
            'address_offset = 5\nkind = "barrier"',
            12,
            "ticket is a mutex algorithm, not one for barriers",
        ),
        (
            "address_offset = 5",
            "address_offset = 5\nfoo = 1",
            15,
            "not a key of a lock",
        ),
        ("address_offset = 5", "frames = [{offset = 5}]", 14, "module must be"),
        ("address_offset = 5", "frames = [5]", 14, "list of tables"),
        (
            "address_offset = 5",
            'address_offset = 5\nbuild_id = "xy"',
            15,
            "hexadecimal",
        ),
        ('site = "b.c:1 &m"', 'site = "b\\nc"', 11, "one line"),
        ('site = "b.c:1 &m"', "site = 1", 11, "must be a string"),
    ],
)
def test_refused(tmp_path: Path, old: str, new: str, line: int, words: str) -> None:
    assert old in GOOD
    path = tmp_path / "p.toml"
    path.write_text(GOOD.replace(old, new))
    with pytest.raises(HaspError, match=words) as refused:
        load(path)
    assert str(refused.value).startswith(f"{path}:")
    named = int(str(refused.value).split(":")[1])
    assert named == line or (line == 1 and 10 <= named <= 16)
    assert refused.value.remedy


def test_missing(tmp_path: Path) -> None:
    with pytest.raises(HaspError, match="cannot be read"):
        load(tmp_path / "none.toml")
