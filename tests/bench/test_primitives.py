# SPDX-License-Identifier: MIT
"""`hasp bench spinlocks` and `barriers` measure what `hasp run` would start."""

from hasp.lab.bench import primitives
from hasp.launch import interpose
from hasp.locks import native
from hasp.locks.kinds import BARRIER


def test_each_algorithm_runs_in_the_environment_of_hasp_run():
    run = interpose.environment(
        primitives.algorithms([native.lock("central", BARRIER)]),
        interpose.original_environment(),
        [str(native.program(primitives.PROGRAM))],
    )
    environments = primitives._environments(BARRIER, ["central", "glibc"])
    assert environments["central"] == run
    assert "HASP_PARK_NS" in run
    assert environments["glibc"].get("HASP_BARRIER", "glibc") == "glibc"
