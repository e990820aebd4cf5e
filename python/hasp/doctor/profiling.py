# SPDX-License-Identifier: MIT
"""Checks of what `hasp profile` needs, and of the debug information of a program."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from hasp.base import host
from hasp.base.elf.sections import read_elf
from hasp.base.errors import HaspError
from hasp.base.sizes import format_size
from hasp.doctor import FINE, LACK, NOTE, Finding
from hasp.locks import native
from hasp.profile.record import files
from hasp.profile.symbols.files import DEBUG_ROOT, files_of
from hasp.profile.symbols.modules import Module

TOPIC = "profiling"
DEFAULT_LIMIT = 256 << 20  # bytes: the default limit of a trace
CONSTANT = ("constant_tsc", "nonstop_tsc")
LINES = (".debug_line", ".zdebug_line")


def findings() -> list[Finding]:
    """Return findings about what the recorder and `--hang-after` need from the host."""
    return [
        _recorder(),
        _counter(),
        _threads(),
        _calls(),
        _debug_files(),
        _disk_space(),
    ]


def _recorder() -> Finding:
    try:
        return Finding(TOPIC, "recorder", str(native.profiler()))
    except HaspError as problem:
        return Finding(TOPIC, "recorder", "missing", LACK, problem.remedy)


def _counter() -> Finding:
    """The recorder uses the time stamp counter, whose rate must be constant."""
    flags = (host.cpu_field("flags") or "").split()
    missing = [flag for flag in CONSTANT if flag not in flags]
    if platform.machine() != "x86_64" or not missing:
        return Finding(TOPIC, "time stamp counter", "constant")
    words = f"the CPU lacks {' and '.join(missing)}, so times may be wrong"
    return Finding(TOPIC, "time stamp counter", "may change", NOTE, words)


def _threads() -> Finding:
    """The sampler reads the states of waiting threads from the kernel."""
    missing = [name for name in ("stat", "status", "schedstat") if not _task(name)]
    if not missing:
        return Finding(TOPIC, "thread states", "readable")
    words = (
        f"/proc/self/task/*/{', '.join(missing)} cannot be read: profiles do not "
        "distinguish spinning from sleeping, and do not report preempted holders"
    )
    return Finding(TOPIC, "thread states", "in part", LACK, words)


def _calls() -> Finding:
    if _task("syscall"):
        return Finding(TOPIC, "lost wake-ups", "detectable")
    words = (
        "/proc/PID/syscall cannot be read: `--hang-after` reports threads that wait "
        "for locks, but not threads that wait for a lost signal"
    )
    return Finding(TOPIC, "lost wake-ups", "not detectable", NOTE, words)


def _task(name: str) -> bool:
    path = Path(f"/proc/self/task/{os.getpid()}/{name}")
    return bool(host.read_text(path))


def _debug_files() -> Finding:
    if any((DEBUG_ROOT / ".build-id").glob("*")):
        return Finding(TOPIC, "debug files", str(DEBUG_ROOT))
    words = (
        "reports name functions in libraries, not lines; install packages such as "
        "libc6-dbg for the lines"
    )
    return Finding(TOPIC, "debug files", "none installed", NOTE, words)


def _disk_space() -> Finding:
    folder = Path.cwd()
    free = files.room(folder)
    if free >= DEFAULT_LIMIT:
        return Finding(TOPIC, "space for traces", f"{format_size(free)} in this folder")
    words = f"a trace may grow to {format_size(DEFAULT_LIMIT)}: use -o or --limit"
    return Finding(TOPIC, "space for traces", format_size(free), NOTE, words)


def of_program(binary: Path) -> Finding:
    """Check that a profile can name the source lines of a program."""
    elf = read_elf(binary)
    known = files_of(
        Module(0, 0, 0, elf.build_id if elf else "", str(binary.resolve()))
    )
    for each in known.elves:
        if _has_lines(each.path):
            value = "yes" if each.path == binary.resolve() else f"from {each.path}"
            return Finding("program", "line numbers", value, FINE)
    words = (
        f"a profile shows addresses such as {binary.name}+0x1234 instead: build it "
        "with -g, or install its debug package"
    )
    return Finding("program", "line numbers", "no", NOTE, words)


def _has_lines(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            sections = ELFFile(file)
            return any(sections.get_section_by_name(name) for name in LINES)
    except (OSError, ELFError, ValueError):
        return False
