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


def others_time(profile: Profile) -> float | None:
    """Return the CPU time of other programs on this machine in ns; None: not recorded.

    It includes that of the recorder's sampler.
    """
    samples = profile.process_samples
    if len(samples) < 2 or not samples[-1].machine_cpus:
        return None
    first, last = samples[0], samples[-1]
    took = last.at_ns - first.at_ns
    used = took * last.machine_cpus - (last.idle_ns - first.idle_ns)
    others = max(used - (last.cpu_ns - first.cpu_ns), 0)
    return others * profile.duration_ns / took if took > 0 else None


def granted_share(profile: Profile, cpu_ns: float | None) -> float | None:
    """Return the share of the usable CPU time that the threads got; None: unknown.

    Less than 1 means that other programs used the CPUs. Samples overestimate the
    usable time of threads that often sleep: they count as runnable while they are being
    woken. So the threads lack at most the CPU time of other programs; where that was
    not recorded, a small lack counts as none.
    """
    cpus = max(profile.cpus, 1)
    ready = [min(moment.runnable or 0, cpus) for moment in profile.process_samples]
    if not cpu_ns or not any(ready):
        return None
    wanted = sum(ready) / len(ready) * profile.duration_ns
    lack = max(wanted - cpu_ns, 0.0)
    others = others_time(profile)
    if others is not None:
        lack = min(lack, others)
    elif lack < LEAST_LACK * profile.duration_ns:
        return 1.0
    return 1 - lack / wanted
