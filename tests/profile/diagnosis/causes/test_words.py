# SPDX-License-Identifier: MIT
"""The words of the sentences and the evidence."""

from __future__ import annotations

import pytest
from profile_samples import stack

from hasp.profile.diagnosis.causes.words import frames, sentence, short_site, shorten


@pytest.mark.parametrize(
    ("functions", "words"),
    [
        (("__libc_recv", "__libc_recv", "write_log", "write_log"), "recv < write_log"),
        (("__libc_recv", "recv", "", "main"), "recv < main"),
        (("__GI___libc_write", "put"), "write < put"),
        (("_Z3putv", "__own", "main"), "_Z3putv < __own < main"),
        (("a", "b", "a", "b", "c"), "a < b < a < b"),
    ],
)
def test_frames_are_plain_and_not_repeated(
    functions: tuple[str, ...], words: str
) -> None:
    assert frames(stack(*(f"{name} x.c:1" for name in functions))) == words


def test_names_of_the_c_library_have_no_underscores() -> None:
    assert frames(stack("__poll poll.c:29", module="libc.so.6")) == "poll"


def test_stale_frames_of_the_recorder_are_left_out() -> None:
    """Stacks of programs without debug information may contain some."""
    inner = stack("__libc_fsync fsync.c:27", module="libc.so.6")
    stale = stack("stack_intern stacks.c:64", module="libhasp-profile.so")
    assert frames((*inner, *stale, *stack("log_message log.c:120"))) == (
        "fsync < log_message"
    )


@pytest.mark.parametrize(
    ("name", "most", "shown"),
    [
        ("libisc-9.18.49-1~deb12u3-Debian.so+0x62510", 24, "libisc.so+0x62510"),
        ("libjemalloc.so.2+0x92516", 24, "libjemalloc.so.2+0x92516"),
        ("libjemalloc.so.2+0x92516", 22, "libjemalloc.so+0x92516"),
        ("averylongprogramname+0x92516", 20, "averylong...+0x92516"),
    ],
)
def test_a_place_in_a_library_keeps_its_offset(
    name: str, most: int, shown: str
) -> None:
    assert shorten(name, most) == shown


@pytest.mark.parametrize(
    ("most", "shown"),
    [
        (31, "rsyslogd+0x631e8 in qqueueStart"),
        (28, "rsyslogd+0x631e8 qqueueStart"),
        (26, "rsyslogd+0x631e8"),
    ],
)
def test_a_lock_has_a_whole_name_or_its_place_alone(most: int, shown: str) -> None:
    """`rsyslogd+0x631e8 qqu...art` names nothing that one could search for."""
    assert short_site("rsyslogd+0x631e8 in qqueueStart", most) == shown


def test_a_sentence_that_is_cut_has_three_dots() -> None:
    problem = "1 of 7 threads waits while put() holds it to take " + "word " * 20
    whole = sentence("db.c:88 &db->mu", problem, ("Release the outer lock first",))
    assert "word... Release the outer lock first." in whole
    assert len(whole) <= 160
