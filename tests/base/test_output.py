# SPDX-License-Identifier: MIT
"""Messages show what the user wrote."""

from __future__ import annotations

import pytest

from hasp.base.errors import HaspError
from hasp.base.output import quoted
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
