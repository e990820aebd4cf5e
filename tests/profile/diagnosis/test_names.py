# SPDX-License-Identifier: MIT
"""A verdict on a program without debug information says how to get names."""

from __future__ import annotations

import pytest

from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.confidence import Confidence
from hasp.profile.diagnosis.diagnose import Diagnosis


@pytest.mark.parametrize(
    ("lock", "holder", "named"),
    [
        ("rsyslogd+0x631e8 in qqueueStart", "rsyslogd+0x60074", "rsyslogd"),
        ("shared.so+0x3b47", "", "shared.so"),
        ("librocksdb.so.7.8+0x30062e", "LRUCacheShard::Lookup", None),
        ("perl+0x6fa48 PL_env_mutex", "", None),
        ("access_log.c:42 &log_mu", "log_line", None),
        ("", "", None),
    ],
)
def test_an_address_is_explained(lock: str, holder: str, named: str | None) -> None:
    lead = Cause("long-section", lock, "waits", ("Shorten it",), 0.5, holder=holder)
    evidence = Diagnosis(lead, (), Confidence("high", ())).evidence
    if named is None:
        assert evidence == ()
    else:
        (line,) = evidence
        assert f"install the debug package of {named}, or build it" in line
