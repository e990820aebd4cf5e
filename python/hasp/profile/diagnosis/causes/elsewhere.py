# SPDX-License-Identifier: MIT
"""Locks are not the bottleneck: the threads compute, or wait for something else."""

from __future__ import annotations

from collections.abc import Sequence

from hasp.profile.diagnosis.causes import gate
from hasp.profile.diagnosis.causes.cause import Cause
from hasp.profile.diagnosis.causes.conditions import conditions_of
from hasp.profile.diagnosis.causes.facts import Facts, SiteFacts
from hasp.profile.diagnosis.causes.limits import (
    DISTURBED,
    FEW_SAMPLES,
    MATTERS,
    MOST,
    PART,
    WAKE,
)
from hasp.profile.diagnosis.causes.shared_line import in_line
from hasp.profile.diagnosis.causes.words import call, number, share, time
from hasp.profile.model.runtimes import LAUNCHED, Runtime

# Sleeps of all threads per second that neither locks nor conditions explain.
RESTLESS = 1000.0
# The same, if hardly any sample shows where.
MANY_SLEEPS = 3000.0
# Runtimes whose waiters spin before they sleep.
SPINNING = frozenset({"openmp"})
# Runtimes whose threads without work sleep in the same futexes.
IDLE_IN_FUTEXES = frozenset({"erlang"})


def detect(facts: Facts) -> Cause:
    """Return unseen-locks if threads block in locks that bypass pthread."""
    return unseen(facts) or not_locks(facts)


def unseen(facts: Facts) -> Cause | None:
    """Return the cause if threads block in futexes that Hasp does not record.

    A thread without work may sleep in such a futex as well, but for long.
    """
    foreign = facts.profile.foreign
    runtime = _runtime(facts)
    launched = runtime is not None and runtime.id in LAUNCHED
    if runtime and launched and (_is_idle(facts) or _parks(facts, runtime)):
        return _inside(facts, runtime)
    if foreign is None or not foreign.blocked:
        return _spun_for(facts, runtime) if runtime else None
    # With a known runtime, few samples suffice, and its sleeping threads count.
    waiters = runtime is not None and runtime.id not in IDLE_IN_FUTEXES
    blocked = (foreign.share if waiters else foreign.brief_share) or 0.0
    enough = 2 if _restless(facts) else FEW_SAMPLES / 2
    few = not waiters and foreign.brief < enough
    if few or blocked < MATTERS:
        return _often(facts) if foreign.blocked and not runtime else None
    if runtime:
        where = f"{runtime.unseen} of {runtime.name}"
        advice: tuple[str, ...] = (f"Look with {runtime.tool}",)
    else:
        module = max(foreign.modules, key=foreign.modules.__getitem__, default="")
        where = f"futexes of {module}" if module else "futexes"
        advice = ("Look with `perf trace -s` or bpftrace's offcputime",)
    return Cause(
        "unseen-locks",
        "",
        f"threads block for {share(blocked)} of their time in {where}, which Hasp "
        "does not see",
        (*advice, "Look with perf"),
        blocked,
        (
            f"{foreign.blocked} of {foreign.samples} samples of threads were in such "
            f"futexes; waits for the locks that Hasp sees take {share(facts.waited)}",
            *_blind(facts),
        ),
    )


def _is_idle(facts: Facts) -> bool:
    return facts.running / max(facts.profile.cpus, 1) < 1 - PART


def _lacks_cpus(facts: Facts) -> bool:
    """Return true if the threads could use more CPU time than other programs left."""
    return facts.granted is not None and facts.granted < DISTURBED


def _users_of_the_rest(facts: Facts) -> str:
    """Name the program that used most of the CPU time that the threads lacked."""
    neighbour, granted = facts.profile.neighbour, facts.granted
    lack = facts.running * (1 / granted - 1) if granted else 0.0
    if neighbour is None or neighbour.cpus < MOST * lack:
        return "other programs use"
    return f"{neighbour.name} uses"


def _parks(facts: Facts, runtime: Runtime) -> bool:
    """Return true if the virtual machine often puts threads to sleep and wakes them."""
    return any(
        one.waking_share >= PART
        for one in conditions_of(facts)
        if one.site.module == runtime.evidence
    )


def _restless(facts: Facts) -> bool:
    """Return true if threads slept often, but not for locks or conditions."""
    return _sleeps(facts) >= RESTLESS


def _sleeps(facts: Facts) -> float:
    """Return the sleeps per second that neither locks nor conditions explain."""
    slept = sum(thread.voluntary for thread in facts.profile.threads)
    known = sum(one.use.contended for one in facts.sites)
    known += sum(2 * one.use.acquisitions for one in conditions_of(facts))
    return (slept - known) / facts.seconds


def _often(facts: Facts) -> Cause | None:
    """Return the cause if threads sleep so briefly and often that few samples show it.

    So do threads in I/O, but none of those was seen in a foreign futex.
    """
    rate, foreign = _sleeps(facts), facts.profile.foreign
    cost = min(rate * WAKE / 1e9 / max(facts.workers, 1), 1.0)
    few = facts.workers < 2 or rate < MANY_SLEEPS or cost < PART
    if foreign is None or few or facts.waited >= MATTERS:
        return None
    module = max(foreign.modules, key=foreign.modules.__getitem__, default="")
    return Cause(
        "unseen-locks",
        "",
        f"threads sleep and are woken {number(rate)} times per second, at least some "
        f"in futexes of {module or 'unknown code'}, which Hasp does not see",
        ("Look with `perf trace -s` or bpftrace's offcputime", "Look with perf"),
        cost,
        (
            f"{foreign.blocked} of {foreign.samples} samples of threads were in such "
            f"futexes; waits for the locks that Hasp sees take {share(facts.waited)}",
            *_blind(facts),
        ),
    )


def _spun_for(facts: Facts, runtime: Runtime) -> Cause | None:
    """Return the cause of a program that uses OpenMP's locks on all its CPUs.

    Their waiters spin for a while, which looks like work.
    """
    if runtime.id not in SPINNING or not runtime.is_programs or facts.workers < 2:
        return None
    if _is_idle(facts):
        return None
    return Cause(
        "unseen-locks",
        "",
        f"the CPUs are busy, perhaps with waiters that spin for {runtime.unseen} of "
        f"{runtime.name}, which Hasp does not see",
        ("Look with perf",),
        0.0,
        (
            f"waits for the locks that Hasp sees take {share(facts.waited)} of the "
            "threads' time",
            *_blind(facts),
        ),
    )


def _inside(facts: Facts, runtime: Runtime) -> Cause:
    """Return the cause of a program that a virtual machine runs.

    The virtual machine puts threads to sleep on its own condition variables, both
    waiting and idle ones.
    """
    cpus = max(facts.profile.cpus, 1)
    doing = f"the threads use {facts.running:.1f} of {cpus} CPUs, and may wait"
    if not _is_idle(facts):
        doing = "the threads often sleep and are woken, perhaps"
    return Cause(
        "unseen-locks",
        "",
        f"{doing} for {runtime.unseen} of {runtime.name}, which Hasp does not see",
        (
            f"Look with {runtime.tool}",
            f"Look with {runtime.tool.partition(' (')[0]}",
            "Look with perf",
        ),
        1 - facts.running / cpus,
        _blind(facts),
    )


def not_locks(facts: Facts) -> Cause:
    """Return the cause of programs whose threads hardly wait for locks."""
    cpus = max(facts.profile.cpus, 1)
    waited = share(facts.waited)
    gates = [one for one in facts.sites if one.is_gate]
    locks = [one for one in facts.sites if not one.is_gate]
    top = max(locks, key=lambda one: one.wait_ns, default=None)
    most = f"; they waited longest for {top.name}" if top and top.wait_ns else ""
    if not _is_idle(facts):
        advice = "The CPUs are busy: look at the code (perf top)"
    elif _lacks_cpus(facts):
        advice = f"They lack CPU time, which {_users_of_the_rest(facts)}"
    else:
        advice = "Look for I/O, sleep and idle time (perf trace -s)"
    problem = "the locks that Hasp sees are not the bottleneck: threads wait "
    problem += f"{waited} of their time for them"
    if facts.waited >= MATTERS:
        problem = f"threads wait {waited} of their time for locks, {_waiting(facts)}: "
        problem += "the locks that Hasp sees are not the bottleneck"
    if first := _runtime(facts):
        problem = f"threads wait {waited} of their time for the locks that Hasp sees; "
        problem += f"it does not see {first.unseen} of {first.name}"
        advice = f"Look with {first.tool}"
    return Cause(
        "not-locks",
        "",
        problem,
        (advice, "Look with perf or bpftrace"),
        0.0,
        (
            f"the threads used {facts.running:.1f} of {cpus} CPUs while they were busy"
            f"{most}",
            *(_gate(one) for one in gates[:1]),
            *_hottest_line(locks),
            *_blind(facts),
        ),
    )


def too_short() -> Cause:
    """Return the cause of a program that ended before anything could be measured."""
    return Cause(
        "not-locks",
        "",
        "the recording is too short to judge the locks",
        ("Record for longer",),
        0.0,
    )


def _waiting(facts: Facts) -> str:
    """Return the reason for waits that are not the locks' fault."""
    if facts.crowded or not _is_idle(facts):
        return "mostly for lack of a CPU"
    if facts.work_waited < MATTERS:
        return "nearly all in the background"
    return "mostly to be woken after a release"


def _hottest_line(locks: Sequence[SiteFacts]) -> tuple[str, ...]:
    hottest = max(locks, key=lambda one: one.rate, default=None)
    lines = in_line(hottest) if hottest else ()
    return tuple(f"{hottest.name} is {line}" for line in lines if hottest)


def _runtime(facts: Facts) -> Runtime | None:
    """Return the runtime whose locks the threads may wait for; None: none.

    It is the one in whose library threads block, or the one that the program is
    written for. Many programs are linked with other ones that they do not use.
    """
    runtimes = facts.profile.unseen_runtimes
    foreign = facts.profile.foreign
    blocked = foreign.modules if foreign else {}
    used = [one for one in runtimes if one.evidence in blocked]
    used += [one for one in runtimes if one.is_programs]
    return used[0] if used else None


def _gate(one: SiteFacts) -> str:
    count = gate.waiting(one.site)
    idle = f"{count} threads" if count != 1 else "a thread"
    return (
        f"{one.name} is a gate: {call(one.holder)} keeps {idle} idle with it, "
        f"{time(one.wait_mean)} each time"
    )


def _blind(facts: Facts) -> tuple[str, ...]:
    return tuple(
        f"not seen: {one.unseen} of {one.name}; {one.tool} shows them"
        for one in facts.profile.unseen_runtimes
    )
