# SPDX-License-Identifier: MIT
"""The sample profiles of other tests are consistent."""

from __future__ import annotations

import pytest
from profile_samples import SAMPLES

from hasp.profile.model.profile import Kind


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_agrees_with_itself(name: str) -> None:
    profile = SAMPLES[name]()
    known = {lock.number for site in profile.sites for lock in site.locks}
    assert len(known) == sum(len(site.locks) for site in profile.sites)
    assert {weight.lock for weight in profile.weights} <= known
    assert {sample.lock for sample in profile.waiters} <= known
    assert {thread.waiting_for for thread in profile.threads} <= {*known, None}
    for site in profile.sites:
        assert site.total is not None
        for use in site.stats.values():
            assert use.contended <= use.acquisitions
            assert use.wait.number == use.contended
            if site.kind is not Kind.CONDITION:
                assert use.hold.number == use.acquisitions
