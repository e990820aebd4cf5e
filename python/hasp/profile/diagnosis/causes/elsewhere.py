# SPDX-License-Identifier: MIT
"""The locks are not the trouble: the threads compute, or wait for something else."""

from __future__ import annotations

from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.facts import Facts
from hasp.profile.diagnosis.causes.limits import MATTERS, PART
from hasp.profile.diagnosis.causes.words import share


def detect(facts: Facts) -> Cause:
    """Return unseen-locks if threads block in locks that bypass pthread."""
    return unseen(facts) or not_locks(facts)


def unseen(facts: Facts) -> Cause | None:
    """Return the cause if threads block in futexes that Hasp does not record."""
    foreign = facts.profile.foreign
    runtimes = facts.profile.unseen_runtimes
    blocked = (foreign.brief_share or 0.0) if foreign else 0.0
    if blocked < PART and not (runtimes and blocked >= MATTERS):
        return None
    if runtimes:
        first = runtimes[0]
        who = f"locks of {first.name} ({first.unseen})"
        advice: tuple[str, ...] = (f"Look with {first.tool}",)
    else:
        module = (
            max(foreign.modules, key=foreign.modules.__getitem__, default="")
            if (foreign)
            else ""
        )
        who = f"futexes of {module}" if module else "futexes"
        advice = ("Look with perf trace -e futex -s, or offcputime", "Look with perf")
    return Cause(
        "unseen-locks",
        "",
        f"threads block for {share(blocked)} of their time in {who}, which Hasp does "
        f"not see; waits that it sees take {share(facts.waited)}",
        advice,
        blocked,
        tuple(
            f"{one.name}: {one.unseen} bypass pthread ({one.evidence}); {one.tool} "
            "shows them"
            for one in runtimes
        ),
    )


def not_locks(facts: Facts) -> Cause:
    """Return the cause that remains: threads hardly wait for locks."""
    cpus = max(facts.profile.cpus, 1)
    waited = share(facts.waited)
    top = max(facts.sites, key=lambda one: one.wait_ns, default=None)
    most = f", most for {top.name}" if top and top.wait_ns else ""
    busy = facts.running / cpus
    if busy >= 1 - PART:
        advice = ("The CPUs are busy: look at the code (perf top)",)
    else:
        advice = ("Look for I/O, sleep and idle time (perf trace -s)",)
    problem = "the locks that Hasp sees are not the bottleneck: threads wait "
    problem += f"{waited} of their time for them"
    if facts.waited >= MATTERS and busy >= 1 - PART:
        problem = f"the CPUs are full: threads wait {waited} of their time for locks "
        problem += "that Hasp sees, but no CPU is free for them"
    return Cause(
        "not-locks",
        "",
        problem,
        advice,
        0.0,
        (
            f"the threads used {facts.running:.1f} of {cpus} CPUs while they were busy"
            f"{most}",
            *_blind(facts),
        ),
    )


def _blind(facts: Facts) -> tuple[str, ...]:
    return tuple(
        f"not seen: {one.unseen} of {one.name}; {one.tool} shows them"
        for one in facts.profile.unseen_runtimes
    )
