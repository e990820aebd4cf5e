# SPDX-License-Identifier: MIT
"""A campaign may list algorithms of every kind of locks."""

from __future__ import annotations

from pathlib import Path

import pytest

from hasp.base.errors import HaspError
from hasp.study.campaign import load

PROGRAM = 'schema = 1\n[[program]]\nname = "x"\ncommand = "true"\n'


def locks(tmp_path: Path, lines: str) -> tuple[str, ...]:
    path = tmp_path / "plan.toml"
    path.write_text(PROGRAM + lines)
    return load(path).programs[0].settings.locks


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ('locks = "mcs"', ("mcs",)),
        ('rwlocks = "rw-ttas"', ("glibc", "rwlock:rw-ttas")),
        ('rwlocks = ["rw-ttas", "glibc"]', ("glibc", "rwlock:rw-ttas")),
        ('locks = "mcs"\nrwlocks = "rw-ttas"', ("glibc", "mcs", "rwlock:rw-ttas")),
        ('spinlocks = "ticket"', ("glibc", "spinlock:ticket")),
    ],
)
def test_lists(tmp_path: Path, lines: str, expected: tuple[str, ...]) -> None:
    assert locks(tmp_path, lines) == expected


def test_all_mutex_algorithms_without_a_list(tmp_path: Path) -> None:
    found = locks(tmp_path, "")
    assert found[0] == "glibc"
    assert "mcs" in found
    assert not any(":" in name for name in found)


def test_another_kind_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(HaspError, match="mcs is a mutex algorithm") as refused:
        locks(tmp_path, 'rwlocks = "mcs"')
    assert ":5: program x: rwlocks:" in str(refused.value)
