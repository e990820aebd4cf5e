# SPDX-License-Identifier: MIT
"""Messages show what the user wrote."""

from __future__ import annotations

import re
from io import StringIO

import pytest

from hasp.base.errors import HaspError
from hasp.base.output import console, quoted, table
from hasp.compare.settings import parse_metric


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r"ops: (\d+)", r"'ops: (\d+)'"),  # one backslash, as it was written
        ("it's", '"it\'s"'),
        ("\x1b[2J", r"'\x1b[2J'"),
    ],
)
def test_quoted_text_is_as_it_was_written(text: str, shown: str) -> None:
    assert quoted(text) == shown


def test_a_bad_pattern_is_shown_with_single_backslashes() -> None:
    with pytest.raises(HaspError) as refusal:
        parse_metric(r"ops: (\d+", 1)
    assert r"'ops: (\d+'" in refusal.value.message


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("stream", [StringIO(), Terminal()])
def test_no_line_of_a_table_or_of_wrapped_text_ends_with_blanks(
    stream: StringIO,
) -> None:
    shown = table(title="locks", caption="two of them")
    shown.add_column("lock")
    shown.add_column("what it is")
    shown.add_row("mcs", "a queue")
    shown.add_row("family:", style="bold")
    shown.add_row("", "a lock of several words " * 4)
    console(stream).print(shown)
    console(stream).print(f"{'a word ' * 20}at the end", style="bold")
    plain = re.sub("\x1b\\[[0-9;]*m", "", stream.getvalue())
    assert "a queue" in plain
    assert "at the end" in plain
    assert [line for line in plain.splitlines() if line != line.rstrip()] == []
