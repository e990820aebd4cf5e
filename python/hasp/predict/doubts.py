# SPDX-License-Identifier: MIT
"""Reasons to doubt a prediction, from the recording and from the simulation."""

from __future__ import annotations

from collections.abc import Iterator

from hasp.predict.answer import Answer
from hasp.profile.diagnosis.words import percent
from hasp.profile.model.profile import Profile
from hasp.profile.report.words import listed, short_time

IDLE = 0.5  # share of the threads' time
WAITED = 0.3  # share of the threads' time without what they idle
RAN = 0.9  # share of the time that a thread could use a CPU
KNOWN = 1.2  # ratio of the bounds of a score that is known well enough
TOLD = 1e9  # ns of CPU time: 100 to 1000 ticks, so a share has an error of 5 % at most
ERROR = 0.25  # of the simulated throughput with the recorded threads


def doubts(profile: Profile, answer: Answer) -> list[str]:
    """Return sentences without a full stop."""
    return [
        *_of_recording(profile, answer),
        *_of_roles(answer),
        *_of_simulation(answer),
    ]


def _of_recording(profile: Profile, answer: Answer) -> Iterator[str]:
    scaling = [role for role in answer.load.roles if role.scales]
    idle = sum(role.recorded * role.rate * role.idle_ns for role in scaling)
    share = idle / sum(role.recorded for role in scaling)
    if share > IDLE:
        yield (
            f"the recorded threads waited for work {percent(share)} of the time, and "
            "still do in the simulation: record under full load, or add --busy"
        )
    waited = sum(one.wait_ns for one in profile.threads)
    ran = sum(one.cpu_ns for one in profile.threads)
    if waited > WAITED * (waited + ran):
        yield (
            "the recorded threads waited for locks "
            f"{percent(waited / (waited + ran))} of the time that they did not idle; "
            "what waking each other cost them counts as work: record with fewer threads"
        )
    recorded = answer.pace.recorded
    if answer.pace.known and recorded and recorded.high > KNOWN * recorded.low:
        low, high = answer.pace.bounds
        yield (
            f"the recording's processor is only known as {recorded.words}, so "
            f"computing takes {low:.2g} to {high:.2g} times as long as recorded: name "
            "its machine or its score with --recorded-on"
        )
    if answer.pace.slower != 1:
        yield from _of_kernel_time(profile, answer)
    if profile.mode != "full":
        yield "only a sample of the acquisitions was recorded"
    if profile.damaged:
        yield "parts of the trace could not be read"


def _of_kernel_time(profile: Profile, answer: Answer) -> Iterator[str]:
    if answer.kernel_share is None:
        yield (
            "the trace does not tell how long threads computed in the kernel, so that "
            "is scaled by the speed of the CPU, too: record the program again"
        )
        return
    ran = sum(one.cpu_ns for one in profile.threads)
    if ran < TOLD:
        yield (
            f"the threads ran for {short_time(ran)}, too short to tell user mode from "
            "the kernel by ticks: record the program for a second"
        )


def _of_roles(answer: Answer) -> Iterator[str]:
    load = answer.load
    ran = min(role.ran for role in load.roles if role.scales)
    if ran < RAN:
        yield (
            f"the recorded threads had a CPU only {percent(ran)} of the time that they "
            "could use one, so their times are estimates: record on an idle machine, "
            "with no more threads than CPUs"
        )
    if load.workers == 1:
        yield (
            "one thread was recorded, so it is assumed that all threads use the same "
            "locks; a recording with two shows which ones they share"
        )
    fed = sorted({at for role in load.roles if role.scales for at in role.takes})
    if fed:
        names = listed([load.sites[at].name for at in fed])
        yield (
            f"these threads wait for what others put into a queue ({names}), so they "
            "are as fast as those at most; the queue is not bounded in the simulation"
        )
    others = [role for role in load.roles if not role.scales]
    if others:
        names = listed([role.name or "a thread" for role in others])
        yield (
            f"the number of these threads does not grow: {names}; if the program "
            "adds such threads, its other locks may saturate"
        )


def _of_simulation(answer: Answer) -> Iterator[str]:
    error = answer.baseline.median - 1 if answer.baseline else 0.0
    if abs(error) > ERROR:
        word = "faster" if error > 0 else "slower"
        yield (
            "with the recorded number of threads, the simulation is "
            f"{percent(abs(error))} {word} than the recording: the program does "
            "something that the simulation lacks, or the machines differ that much"
        )
    saturated = answer.saturated
    if saturated and saturated.threads and saturated.agreeing < 1:
        yield (
            f"in {percent(1 - saturated.agreeing)} of the simulations, another lock "
            "saturates first"
        )
