# SPDX-License-Identifier: MIT
"""The CPU time of a program."""

from __future__ import annotations

from hasp.profile.model.profile import Profile

# A smaller lack of CPU time, in CPUs, may be an error of the samples: the sampler
# delays threads that wake up on its CPU.
LEAST_LACK = 0.3


def is_stale(profile: Profile) -> bool:
    """Return true if CPU times of threads were read up to a second before the end.

    That is so in a part of a run and in a run that did not end.
    """
    return profile.skipped_ns is not None or not profile.ended


def cpu_time(profile: Profile) -> float:
    """Return the CPU time of all threads in ns; 0 if it is not known.

    The process is sampled ten times a second. Where the CPU times of the threads are
    stale, its samples count, if they show more.
    """
    threads = float(sum(thread.cpu_ns for thread in profile.threads))
    samples = profile.process_samples
    if is_stale(profile) and len(samples) > 1:
        first, last = samples[0], samples[-1]
        if last.at_ns > first.at_ns:
            rate = (last.cpu_ns - first.cpu_ns) / (last.at_ns - first.at_ns)
            return max(threads, rate * profile.duration_ns)
    if not threads and samples:
        return float(samples[-1].cpu_ns)
    return threads


def granted_share(profile: Profile, cpu_ns: float | None) -> float | None:
    """Return the share of the usable CPU time that the threads got; None: unknown.

    Less than 1 means that other programs used the CPUs. Samples overestimate the
    usable time of threads that often sleep, so a small lack of CPU time counts as
    none.
    """
    cpus = max(profile.cpus, 1)
    ready = [min(moment.runnable or 0, cpus) for moment in profile.process_samples]
    if not cpu_ns or not any(ready):
        return None
    wanted = sum(ready) / len(ready) * profile.duration_ns
    if wanted - cpu_ns < LEAST_LACK * profile.duration_ns:
        return 1.0
    return min(cpu_ns / wanted, 1.0)
