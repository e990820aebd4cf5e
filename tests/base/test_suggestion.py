# SPDX-License-Identifier: MIT
"""Suggestions for words that are misspelt or incomplete."""

from __future__ import annotations

from hasp.base.suggestion import did_you_mean

BARRIERS = ("pthread", "combining-tree", "dissemination")


def test_a_misspelt_name() -> None:
    assert did_you_mean("disemination", BARRIERS) == "did you mean dissemination? "


def test_a_name_with_this_part_comes_before_a_similar_name() -> None:
    assert did_you_mean("tree", BARRIERS) == "did you mean combining-tree or pthread? "


def test_a_name_unlike_all_others() -> None:
    assert did_you_mean("xyz", BARRIERS) == ""
