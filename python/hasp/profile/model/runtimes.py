# SPDX-License-Identifier: MIT
"""Runtimes and libraries whose own locks bypass pthread.

They are recognised by the names of the loaded files, and by sections and symbols of the
executable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile

from hasp.base.elf.damaged import DAMAGED
from hasp.profile.symbols.modules import Module


@dataclass(frozen=True)
class Runtime:
    """A runtime that a program uses."""

    id: str  # that of KNOWN, such as "java"
    name: str  # "Java", "CPython"
    evidence: str  # the library's file name, or the symbol or section that shows it
    unseen: str  # its locks that Hasp does not see, such as "monitors"
    tool: str  # the tool that shows them
    # The program is written for it; otherwise it is only linked with it, perhaps
    # without using it.
    is_programs: bool = False


@dataclass(frozen=True)
class Known:
    """A runtime, and the signs that a program uses it."""

    id: str
    name: str
    unseen: str
    tool: str
    libraries: tuple[str, ...] = ()  # beginnings of file names
    sections: tuple[str, ...] = ()  # of the executable
    symbols: tuple[bytes, ...] = ()  # parts of the executable's string tables
    comment: bytes = b""  # part of the executable's .comment
    # Parts of the string tables of an executable that uses the library's locks itself.
    used: tuple[bytes, ...] = ()


OFF_CPU = "`perf trace -s` or bpftrace's offcputime"
KNOWN = (
    Known(
        *("java", "Java", "monitors and java.util.concurrent locks"),
        "Java Flight Recorder (event jdk.JavaMonitorEnter)",
        ("libjvm.so",),
    ),
    Known(
        *("python", "CPython", "threading locks"),
        "py-spy dump",
        ("libpython2.", "libpython3."),
        symbols=(b"\0PyGILState_Ensure\0",),
    ),
    Known(
        *("go", "Go", "sync.Mutex and channels"),
        "Go's mutex profile (runtime.SetMutexProfileFraction)",
        sections=(".go.buildinfo", ".note.go.buildid", ".gopclntab"),
    ),
    Known(
        *("rust", "Rust", "std::sync and parking_lot locks"),
        OFF_CPU,
        ("libstd-",),
        symbols=(b"\0rust_begin_unwind\0", b"\0rust_eh_personality\0"),
        comment=b"rustc version",
    ),
    Known(
        *("dotnet", ".NET", "monitors and the locks of System.Threading"),
        "dotnet-trace with the contention events",
        ("libcoreclr.so", "libclrjit.so"),
    ),
    Known(
        *("erlang", "Erlang/OTP", "the locks of ETS tables and ports"),
        "lcnt of an emulator with lock counting (erl -emu_type lcnt)",
        symbols=(b"\0ethr_mutex_lock\0",),
    ),
    Known(
        *("innodb", "InnoDB", "latches"),
        "performance_schema (instruments wait/synch/%/innodb/%)",
        symbols=(b"\0opt_ignore_builtin_innodb\0",),
    ),
    Known(
        *("openmp", "OpenMP", "critical sections, locks and barriers"),
        OFF_CPU,
        ("libgomp.so", "libomp.so", "libiomp5.so"),
        used=(
            b"\0GOMP_critical",
            b"\0GOMP_barrier",
            b"\0__kmpc_critical",
            b"\0omp_set_",
        ),
    ),
    Known(*("tbb", "oneTBB", "its own mutexes and queues"), OFF_CPU, ("libtbb.so",)),
    Known(
        *("glib", "GLib", "GMutex, GRWLock and GCond"),
        OFF_CPU,
        ("libglib-2.0.so",),
    ),
    Known(
        *("qt", "Qt", "QMutex and QSemaphore"),
        OFF_CPU,
        ("libQt5Core.so", "libQt6Core.so"),
    ),
    Known(
        *("folly", "Folly", "folly::SharedMutex, MicroLock and batons"),
        OFF_CPU,
        ("libfolly.so",),
        symbols=(b"_ZN5folly15SharedMutexImpl", b"_ZN5folly9MicroLock"),
    ),
    Known(
        *("abseil", "Abseil", "absl::Mutex and absl::CondVar"),
        OFF_CPU,
        ("libabsl_synchronization.so",),
        symbols=(b"_ZN4absl5Mutex4LockEv", b"_ZN4absl5Mutex4lockEv"),
    ),
)
# Only programs written for them load their libraries.
LAUNCHED = frozenset({"java", "dotnet"})
LARGEST = 1 << 28  # bytes of a string table that is searched


@dataclass(frozen=True)
class Contents:
    """The parts of an executable that reveal its runtime."""

    sections: frozenset[str]
    names: bytes  # string tables of symbols
    comment: bytes


def runtimes_of(modules: Iterable[Module], executable: str) -> tuple[Runtime, ...]:
    """Return the runtimes that a program's files reveal."""
    names = [Path(module.path).name for module in modules]
    contents = _contents(Path(executable)) if executable else None
    found = ((known, _evidence(known, names, contents)) for known in KNOWN)
    return tuple(
        Runtime(
            *(known.id, known.name, evidence, known.unseen, known.tool),
            is_programs=known.id in LAUNCHED
            or evidence not in names
            or _is_used(known, contents),
        )
        for known, evidence in found
        if evidence
    )


def _is_used(known: Known, contents: Contents | None) -> bool:
    names = contents.names if contents else b""
    return any(symbol in names for symbol in known.used)


def _evidence(known: Known, names: list[str], contents: Contents | None) -> str | None:
    for name in names:
        if name.startswith(known.libraries or ("/",)):
            return name
    if contents is None:
        return None
    for section in known.sections:
        if section in contents.sections:
            return f"section {section}"
    for symbol in known.symbols:
        if symbol in contents.names:
            return f"symbol {symbol.strip(bytes(1)).decode()}"
    if known.comment and known.comment in contents.comment:
        return "the compiler's name in section .comment"
    return None


def _contents(path: Path) -> Contents | None:
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            elf = ELFFile(file)
            sections = frozenset(section.name for section in elf.iter_sections())
            return Contents(
                sections,
                bytes(1).join(_data(elf, (".dynstr", ".strtab"))),
                bytes(1).join(_data(elf, (".comment",))),
            )
    except DAMAGED:
        return None


def _data(elf: ELFFile, names: tuple[str, ...]) -> Iterator[bytes]:
    for name in names:
        section = elf.get_section_by_name(name)
        if (
            section
            and section["sh_type"] != "SHT_NOBITS"
            and section.data_size < LARGEST
        ):
            yield section.data()
