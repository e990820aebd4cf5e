# SPDX-License-Identifier: MIT
"""Tests the tables of `hasp study` on a terminal of 80 columns."""

from __future__ import annotations

from hasp.study.report.table import show
from hasp.study.tables import Table

COLUMNS = ["application", "lock", "runs", "ratio_to_best", "hedges_g", "p", "verdict"]


def test_names_are_never_cut(capsys):
    """Headings fold first, then cells between words; lock names stay whole."""
    row = ["kyoto cache of many words", "gcr+c-bo-mcs-park", 5, 0.8809, -0.1146, 1.0]
    more = ["a_name_of_twenty_char", "malthusian-park-wide", 5, 0.1, 0.01234, 1.0]
    verdict = "cannot tell anything about it"
    show(Table(COLUMNS, [[*row, verdict], [*more, verdict]]), None)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    words = " ".join(lines).split()
    for name in ("gcr+c-bo-mcs-park", "a_name_of_twenty_char", "-0.115", "hedges"):
        assert name in words


def test_a_narrow_table_stays_narrow(capsys):
    show(Table(["lock", "a_pct"], [["mcs", 1], ["clh", None]]), None)
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines == [*("lock  a pct", "───────────", "mcs       1", "clh")]
