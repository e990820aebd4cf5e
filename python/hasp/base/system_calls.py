# SPDX-License-Identifier: MIT
"""Finds out which system calls this process may use, by trying them.

A permission file shows what the kernel allows, but a sandbox may still refuse it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct

NUMBERS = {
    "x86_64": {"membarrier": 324, "perf_event_open": 298},
    "aarch64": {"membarrier": 283, "perf_event_open": 241},
}
MEMBARRIER_QUERY = 0
MEMBARRIER_PRIVATE_EXPEDITED = 1 << 3
# <linux/prctl.h>: PR_RSEQ_SLICE_EXTENSION and its arguments
SLICE_EXTENSION, SLICE_EXTENSION_SET, SLICE_EXTENSION_ENABLE = 79, 2, 1
ENOTSUPP = 524  # the kernel's own; the C library has no name for it
PERF_HARDWARE, PERF_SOFTWARE = 0, 1
PERF_CYCLES, PERF_TASK_CLOCK = 0, 1
PERF_ATTRIBUTE_SIZE = 112
PERF_CLOSE_ON_EXEC = 1 << 3
PERF_DISABLED, PERF_EXCLUDE_KERNEL, PERF_EXCLUDE_HYPERVISOR = 1 << 0, 1 << 5, 1 << 6

_libc = ctypes.CDLL(None, use_errno=True)


def _call(name: str, *arguments: object) -> int:
    """Return the result of a system call, or a negative errno."""
    number = NUMBERS.get(platform.machine(), {}).get(name)
    if number is None:
        return -errno.ENOSYS
    _libc.syscall.restype = ctypes.c_long
    result = int(_libc.syscall(ctypes.c_long(number), *arguments))
    return -ctypes.get_errno() if result < 0 else result


def membarrier() -> str:
    """Return why the private expedited membarrier fails; empty if it works."""
    commands = _call("membarrier", ctypes.c_int(MEMBARRIER_QUERY), ctypes.c_uint(0))
    if commands < 0:
        return os.strerror(-commands)
    if not commands & MEMBARRIER_PRIVATE_EXPEDITED:
        return "this kernel lacks the private expedited kind"
    return ""


def perf_event(
    kind: int, config: int, *, process: int = 0, cpu: int = -1, flags: int = 0
) -> int:
    """Open a counting event; return its descriptor, or a negative errno.

    `process` 0 is this process and -1 all processes; `cpu` -1 means every CPU.
    """
    # type, size, config, sample period, sample type, read format, flags, then zeroes
    head = struct.pack("<IIQQQQQ", kind, PERF_ATTRIBUTE_SIZE, config, 0, 0, 0, flags)
    return _call(
        "perf_event_open",
        ctypes.create_string_buffer(head, PERF_ATTRIBUTE_SIZE),
        ctypes.c_int(process),
        ctypes.c_int(cpu),
        ctypes.c_int(-1),
        ctypes.c_ulong(PERF_CLOSE_ON_EXEC),
    )


def _trouble_with(kind: int, config: int) -> str:
    flags = PERF_DISABLED | PERF_EXCLUDE_KERNEL | PERF_EXCLUDE_HYPERVISOR
    descriptor = perf_event(kind, config, flags=flags)
    if descriptor < 0:
        return os.strerror(-descriptor)
    os.close(descriptor)
    return ""


def hardware_events() -> str:
    """Return why this process cannot count its CPU cycles; empty if it can."""
    return _trouble_with(PERF_HARDWARE, PERF_CYCLES)


def software_events() -> str:
    """Return why perf cannot count the CPU time of this process; empty if it can."""
    return _trouble_with(PERF_SOFTWARE, PERF_TASK_CLOCK)


def rseq_registered() -> bool:
    """Return true if glibc has registered restartable sequences for its threads."""
    try:
        return ctypes.c_uint.in_dll(_libc, "__rseq_size").value > 0
    except ValueError:
        return False  # a glibc before 2.35


def slice_extension() -> str:
    """Return why the kernel grants no time-slice extensions; empty if it does.

    Turns them on for the calling thread, and off again.
    """
    _libc.prctl.restype = ctypes.c_int
    for enable in (SLICE_EXTENSION_ENABLE, 0):
        words = (SLICE_EXTENSION, SLICE_EXTENSION_SET, enable, 0, 0)
        if _libc.prctl(*(ctypes.c_ulong(word) for word in words)) == 0:
            continue
        return {
            errno.EINVAL: "this kernel does not have them; Linux 7.0 and later do, "
            "if built with CONFIG_RSEQ_SLICE_EXTENSION",
            ENOTSUPP: "turned off at boot (rseq_slice_ext=off), or the C library is "
            "too old for them (glibc 2.41 is not)",
            errno.ENXIO: "the C library has not registered rseq",
        }.get(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return ""
