# SPDX-License-Identifier: MIT
"""Checks of the host features that locks and measurements need."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path

from hasp.base import host, system_calls
from hasp.base.energy import powercap
from hasp.base.energy.host_meter import find as find_meter
from hasp.base.errors import HaspError
from hasp.base.host import read_text
from hasp.base.interference import interference
from hasp.doctor import FINE, LACK, NOTE, Finding, profiling
from hasp.launch import calibration, topology
from hasp.locks import native

CPU = Path("/sys/devices/system/cpu")
STEAL_PERIOD = 0.2  # seconds to watch for stolen time
STEAL_SHARE = 0.01
BUSY = 0.5  # runnable others per CPU
NO_MISSES = ": profiles do not contain cache misses in critical sections"
FORBIDDEN = (os.strerror(errno.EACCES), os.strerror(errno.EPERM))
ALLOW = "as root, run `sysctl kernel.perf_event_paranoid=2`"


def findings() -> list[Finding]:
    """Return all findings about the host, in the order of the report."""
    return [
        *_cpus(),
        *_speed(),
        *_interference(),
        *_measuring(),
        *_kernel(),
        *_hasp(),
        *profiling.findings(),
    ]


def _cpus() -> list[Finding]:
    facts = host.facts()
    found = [Finding("CPUs", "model", facts.cpu_model)]
    value = f"{facts.cpus_allowed} of {facts.cpus_online} online"
    if facts.cpus_allowed < facts.cpus_online:
        words = "the affinity mask excludes the others: see `taskset -p $$`"
        found.append(Finding("CPUs", "usable", value, NOTE, words))
    else:
        found.append(Finding("CPUs", "usable", value))
    found.append(_quota(facts))
    found.append(_smt())
    words = (
        "" if facts.numa_nodes > 1 else "NUMA-aware locks have no advantage on one node"
    )
    level = FINE if facts.numa_nodes > 1 else NOTE
    found.append(Finding("CPUs", "NUMA nodes", str(facts.numa_nodes), level, words))
    found += _cohorts()
    found.append(_transactions())
    found.append(_delegation())
    return found


def _cohorts() -> list[Finding]:
    """Return what NUMA-aware locks group threads by, as the locks themselves see it."""
    chosen = topology.cohorts()
    if chosen is None:
        return []
    words = ""
    if chosen.by_cache:
        words = f"NUMA-aware locks tell {chosen.count} groups of CPUs apart"
    if 1 < chosen.count < chosen.caches and chosen.by_cache:
        words += f"; some of the {chosen.caches} caches share one"
    if not chosen.caches:
        words = "the kernel does not report which CPUs share a last-level cache"
    level = NOTE if not chosen.caches else FINE
    return [Finding("CPUs", "cohorts", str(chosen), level, words)]


def _quota(facts: host.Host) -> Finding:
    quota = facts.cpu_quota
    if quota is None:
        return Finding("CPUs", "cgroup quota", "none")
    value = f"{quota:g} CPUs"
    if quota >= facts.cpus_allowed:
        return Finding("CPUs", "cgroup quota", value)
    words = (
        f"threads run on {facts.cpus_allowed} CPUs until the quota stops them all, "
        f"lock holders included: measure with at most {max(1, int(quota))} threads"
    )
    return Finding("CPUs", "cgroup quota", value, LACK, words)


def _smt() -> Finding:
    active = read_text(CPU / "smt/active")
    if active is None:
        return Finding("CPUs", "SMT", "unknown", NOTE, "the kernel does not report it")
    return Finding("CPUs", "SMT", "on" if active == "1" else "off")


def _transactions() -> Finding:
    flags = (host.cpu_field("flags") or "").split()
    name = "TSX (RTM)"
    if "rtm_always_abort" in flags:
        words = "the microcode aborts every transaction"
        return Finding("CPUs", name, "disabled", NOTE, words)
    if "rtm" in flags:
        return Finding("CPUs", name, "available")
    state = read_text(CPU / "vulnerabilities/tsx_async_abort") or ""
    if "TSX disabled" in state:
        return Finding("CPUs", name, "disabled", NOTE, "the kernel disabled it")
    words = "this CPU has no transactional memory, or the hypervisor hides it"
    return Finding("CPUs", name, "absent", NOTE, words)


def _delegation() -> Finding:
    obstacle = native.delegation_obstacle()
    name = f"{native.DELEGATE} (FSGSBASE)"
    if obstacle is None:
        return Finding("CPUs", name, "possible")
    return Finding("CPUs", name, "impossible", NOTE, obstacle)


def _speed() -> list[Finding]:
    found = []
    governor = read_text(CPU / "cpu0/cpufreq/scaling_governor")
    if governor is None:
        words = "the CPU frequency is not visible (usual in virtual machines)"
        found.append(Finding("speed", "governor", "unknown", NOTE, words))
    elif governor == "performance":
        found.append(Finding("speed", "governor", governor))
    else:
        words = (
            "the CPU frequency depends on the load; for stable figures, run `cpupower "
        )
        words += "frequency-set -g performance`"
        found.append(Finding("speed", "governor", governor, NOTE, words))
    clock = read_text(
        "/sys/devices/system/clocksource/clocksource0/current_clocksource"
    )
    if clock in (
        None,
        "tsc",
        "kvm-clock",
        "arch_sys_counter",
        "hyperv_clocksource_tsc_page",
    ):
        found.append(Finding("speed", "clock source", clock or "unknown"))
    else:
        words = "reading this clock needs a system call, which slows timed waits"
        found.append(Finding("speed", "clock source", clock or "", NOTE, words))
    virtual = _virtualisation()
    words = "the host may deschedule a lock holder at any time" if virtual else ""
    level = NOTE if virtual else FINE
    found.append(Finding("speed", "virtualisation", virtual or "none", level, words))
    return found


def _virtualisation() -> str:
    if Path("/.dockerenv").exists() or Path("/run/.containerenv").exists():
        container = "container"
    else:
        container = ""
    vendor = read_text("/sys/class/dmi/id/sys_vendor") or ""
    flags = (host.cpu_field("flags") or "").split()
    machine = ""
    if "hypervisor" in flags or read_text("/sys/hypervisor/type"):
        machine = f"virtual machine ({vendor})" if vendor else "virtual machine"
    return ", ".join(filter(None, (machine, container)))


def _interference() -> list[Finding]:
    before = interference()
    time.sleep(STEAL_PERIOD)
    now = interference()
    recent = (now - before).steal_share
    value = f"{recent:.1%} now, {now.steal_share:.1%} since start"
    if max(recent, now.steal_share) > STEAL_SHARE:
        words = (
            "the hypervisor gives the CPUs to other machines; measure at another time"
        )
        found = [Finding("noise", "steal", value, LACK, words)]
    else:
        found = [Finding("noise", "steal", value)]
    load = os.getloadavg()[0]
    cpus = host.facts().cpus
    value = f"{load:.1f} on {cpus:g} CPUs"
    if load > BUSY * cpus:
        words = "other programs use the CPUs, so comparisons will be noisy"
        found.append(Finding("noise", "load average", value, LACK, words))
    else:
        found.append(Finding("noise", "load average", value))
    return found


def _measuring() -> list[Finding]:
    paranoid = read_text("/proc/sys/kernel/perf_event_paranoid") or "absent"
    found = [Finding("measuring", "perf_event_paranoid", paranoid)]
    for name, trouble, loss in (
        ("perf hardware events", system_calls.hardware_events(), NO_MISSES),
        ("perf software events", system_calls.software_events(), ""),
    ):
        if trouble:
            words = f"perf_event_open fails ({trouble}){loss}"
            if trouble in FORBIDDEN:
                words += f"; {ALLOW}"
            found.append(Finding("measuring", name, "no", LACK, words))
        else:
            found.append(Finding("measuring", name, "yes"))
    found.append(_energy())
    scope = read_text("/proc/sys/kernel/yama/ptrace_scope")
    if scope in (None, "0"):
        found.append(Finding("measuring", "ptrace_scope", scope or "none"))
    else:
        words = "only root or a parent process may attach to a running program"
        found.append(Finding("measuring", "ptrace_scope", scope, NOTE, words))
    return found


def _energy() -> Finding:
    meter = find_meter()
    if meter is not None:
        return Finding("measuring", "RAPL energy", "available")
    if powercap.packages():
        words = "only root may read it; run chmod a+r /sys/class/powercap/*/energy_uj"
        return Finding("measuring", "RAPL energy", "unreadable", LACK, words)
    words = "there is no energy counter, as in most virtual machines"
    return Finding("measuring", "RAPL energy", "absent", NOTE, words)


def _kernel() -> list[Finding]:
    facts = host.facts()
    found = [
        Finding("kernel", "Linux", facts.kernel),
        Finding("kernel", "C library", facts.libc),
    ]
    trouble = system_calls.membarrier()
    if trouble:
        words = f"{trouble}; `futex` does not use the biased release"
        found.append(Finding("kernel", "membarrier", "no", LACK, words))
    else:
        found.append(Finding("kernel", "membarrier", "yes"))
    rseq = system_calls.rseq_registered()
    found.append(Finding("kernel", "rseq", "yes" if rseq else "no"))
    missing = system_calls.slice_extension()
    words = missing or "holders of a contended `auto` ask for them"
    state = "no" if missing else "granted"
    found.append(Finding("kernel", "time-slice extensions", state, words=words))
    mode = "0"
    for line in (read_text("/proc/self/status") or "").splitlines():
        if line.startswith("Seccomp:"):
            mode = line.split()[1]
    if mode == "0":
        found.append(Finding("kernel", "seccomp", "off"))
    else:
        words = "a filter is active; `futex` does not use the biased release"
        found.append(Finding("kernel", "seccomp", f"mode {mode}", NOTE, words))
    pages = read_text("/sys/kernel/mm/transparent_hugepage/enabled") or "absent"
    chosen = pages.partition("[")[2].partition("]")[0] or pages
    found.append(Finding("kernel", "transparent huge pages", chosen))
    return found


def _readable(library: Path) -> Finding:
    """Check that a program that changes its user can still preload the library."""
    path = library.resolve()
    closed = [
        each
        for each in (path, *path.parents)
        if not each.stat().st_mode & (0o004 if each == path else 0o001)
    ]
    if not closed:
        return Finding("Hasp", "library", str(library))
    words = (
        f"other users cannot read {closed[0]}: programs started by a server that has "
    )
    words += "changed its user run without Hasp; install it elsewhere"
    return Finding("Hasp", "library", str(library), NOTE, words)


def _hasp() -> list[Finding]:
    try:
        native.library()
        count = len(native.locks())
    except HaspError as problem:
        words = f"{problem.message}; {problem.remedy}"
        return [Finding("Hasp", "installation", "incomplete", LACK, words)]
    found = [_readable(native.library()), Finding("Hasp", "locks", str(count))]
    cost = calibration.park_ns()
    if cost is None:
        words = "the measurement failed; locks that park use a default"
        found.append(Finding("Hasp", "parking cost", "unknown", LACK, words))
    else:
        found.append(Finding("Hasp", "parking cost", f"{cost} ns"))
    return found
