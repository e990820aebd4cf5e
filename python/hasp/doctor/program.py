# SPDX-License-Identifier: MIT
"""Checks whether Hasp can interpose a program, and which of its locks are visible."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSegment
from elftools.elf.elffile import ELFFile

from hasp.base.errors import HaspError
from hasp.doctor import FINE, LACK, NOTE, Finding, profiling
from hasp.launch import interpose
from hasp.launch.executable import Program, examine, find
from hasp.locks import native

TOPIC = "program"
# Parts of the C library, whose internal locks cannot be replaced.
C_LIBRARY = (
    *("libc.so", "libpthread.so", "libm.so", "libdl.so", "librt.so", "libresolv.so"),
    *("ld-linux", "linux-vdso", "libhasp.so"),
)
MUTEXES = ("pthread_mutex_lock", "pthread_mutex_trylock", "mtx_lock")
CONDITIONS = ("pthread_cond_wait", "pthread_cond_timedwait", "cnd_wait")

# mov $202, %edi on x86-64; mov w0, #98 and mov x0, #98 on AArch64.
FUTEX_CODES = (b"\xbf\xca\0\0\0", b"\x40\x0c\x80\x52", b"\x40\x0c\x80\xd2")

# Imported symbols: name of the group, symbols, explanation.
SYMBOLS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "other pthread locks",
        ("pthread_rwlock_rdlock", "pthread_spin_lock", "pthread_barrier_wait"),
        "read-write locks, spin locks and barriers remain glibc's",
    ),
    ("semaphores", ("sem_wait", "sem_timedwait"), "POSIX semaphores remain glibc's"),
    (
        "special kinds",
        (
            "pthread_mutexattr_setpshared",
            "pthread_mutexattr_setrobust",
            "pthread_mutexattr_setprotocol",
        ),
        "process-shared, robust and priority-aware mutexes remain glibc's",
    ),
    (
        "dlmopen",
        ("dlmopen",),
        "libraries in another namespace use the locks of a second glibc",
    ),
    (
        "plug-ins",
        ("dlopen",),
        "loads libraries later, without RTLD_DEEPBIND: they use the same lock",
    ),
)

# Libraries with locks that are invisible to interposers.
LIBRARIES: tuple[tuple[str, str], ...] = (
    ("libgomp.so", "OpenMP implements critical sections and barriers with futexes"),
    ("libomp.so", "OpenMP implements its own locks and barriers"),
    ("libglib-2.0.so", "GMutex is implemented with futexes; pthread locks are visible"),
    ("libjvm.so", "Java implements its own monitors; the VM's mutexes are visible"),
    ("libtbb.so", "TBB implements its own locks"),
    ("libboost_fiber", "fibers wait without pthread"),
)
ALLOCATORS = ("libjemalloc.so", "libmimalloc.so", "libtcmalloc")


def diagnose(word: str, environment: Mapping[str, str]) -> tuple[list[Finding], bool]:
    """Return the findings about a program, and whether it can be interposed.

    Raises HaspError if the program does not exist.
    """
    path = find(word, environment)
    found = [Finding(TOPIC, "file", str(path))]
    base = interpose.without_hasp(environment)
    try:
        program = examine(word, base)
        preload = interpose.preload(program, base, [native.library()])
    except HaspError as problem:
        words = f"{problem.message}; {problem.remedy}"
        found.append(Finding(TOPIC, "can be interposed", "no", LACK, words))
        if path.is_file():
            found += _language(path, [])
        return found, False
    if program.binary != program.path:
        found.append(Finding(TOPIC, "run by", str(program.binary)))
    found.append(Finding(TOPIC, "can be interposed", "yes"))
    libraries = loaded_libraries(program, base)
    found += _locks(program, libraries)
    found += _language(program.binary, libraries)
    found += _libraries(program, libraries)
    found.append(profiling.of_program(program.binary))
    first = preload.split(":")[0]
    if Path(first).name != interpose.LIBRARY:
        words = "a sanitizer's runtime, which `hasp run` loads before Hasp's library"
        found.append(Finding(TOPIC, "loaded first", Path(first).name, NOTE, words))
    return found, True


def loaded_libraries(program: Program, environment: Mapping[str, str]) -> list[Path]:
    """Return the libraries that the loader would load with the program."""
    paths = []
    for line in interpose.trace(program, environment).splitlines():
        name, _, rest = line.strip().partition(" => ")
        path = Path((rest or name).partition(" (0x")[0])
        if path.is_absolute() and path.exists():
            paths.append(path)
    return paths


def imports(path: Path) -> set[str]:
    """Return the undefined dynamic symbols of an ELF file, without their versions."""
    try:
        with path.open("rb") as file:
            return {name.decode(errors="replace") for name in _undefined(ELFFile(file))}
    except (OSError, ELFError, struct.error, ValueError):
        return set()


def _undefined(elf: ELFFile) -> Iterator[bytes]:
    """The names of undefined dynamic symbols; read in bulk, as there may be 100,000."""
    section = elf.get_section_by_name(".dynsym")
    if section is None:
        # Without section headers the dynamic segment still leads to the symbols.
        for segment in elf.iter_segments("PT_DYNAMIC"):
            assert isinstance(segment, DynamicSegment)
            for symbol in segment.iter_symbols():
                if symbol["st_shndx"] == "SHN_UNDEF":
                    yield symbol.name.encode()
        return
    strings: bytes = elf.get_section(section["sh_link"]).data()
    order = "<" if elf.little_endian else ">"
    for name, _, _, where, _, _ in struct.iter_unpack(f"{order}IBBHQQ", section.data()):
        if where == 0 and name:
            yield strings[name : strings.index(b"\0", name)]


def _is_c_library(path: Path) -> bool:
    return path.name.startswith(C_LIBRARY)


def _locks(program: Program, libraries: list[Path]) -> list[Finding]:
    """Report which files use pthread locks, and other imports that matter."""
    own = imports(program.binary)
    users: dict[str, set[str]] = {program.binary.name: own}
    for library in libraries:
        if not _is_c_library(library):
            users[library.name] = imports(library)
    takers = [name for name, names in users.items() if names & set(MUTEXES)]
    waiters = [name for name, names in users.items() if names & set(CONDITIONS)]
    found = [_use("pthread mutexes", takers, "mutexes")]
    if waiters:
        found.append(_use("condition variables", waiters, "condition variables"))
    for name, symbols, words in SYMBOLS:
        who = [user for user, names in users.items() if names & set(symbols)]
        # The C++ and compiler run-time libraries import syscall and dlopen, too.
        who = [user for user in who if not user.startswith(("libstdc++", "libgcc_s"))]
        if who:
            found.append(Finding(TOPIC, name, _some(who), NOTE, words))
    own_futexes = [
        path.name
        for path in (program.binary, *libraries)
        if "syscall" in users.get(path.name, ())
        # It implements std::atomic's wait(), and its users do not import the symbol.
        and not path.name.startswith("libstdc++")
        and _loads_futex_number(path)
    ]
    if own_futexes:
        words = "seems to call futex directly: such locks are invisible"
        found.append(Finding(TOPIC, "own futexes", _some(own_futexes), NOTE, words))
    return found


def _loads_futex_number(path: Path) -> bool:
    """Return true if the code loads the number of the futex system call.

    Many libraries import syscall() for other calls, such as getrandom.
    """
    try:
        with (
            path.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            return any(data.find(code) >= 0 for code in FUTEX_CODES)
    except (OSError, ValueError):
        return False


def _use(name: str, users: list[str], what: str) -> Finding:
    if users:
        return Finding(TOPIC, name, _some(users))
    words = f"neither it nor its libraries use pthread {what}: Hasp has no effect, "
    words += "unless a plug-in uses them"
    return Finding(TOPIC, name, "none seen", LACK, words)


def _some(names: list[str], limit: int = 4) -> str:
    shown = ", ".join(names[:limit])
    return f"{shown} and {len(names) - limit} more" if len(names) > limit else shown


def _language(binary: Path, libraries: list[Path]) -> list[Finding]:
    """Recognise languages with locks of their own by traces of their compilers."""
    found = []
    try:
        with binary.open("rb") as file:
            if file.seek(0, 2) == 0:
                return []
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                is_go = data.find(b"\xff Go buildinf:") >= 0
                is_rust = data.find(b"/rustc/") >= 0
    except (OSError, ValueError):
        return []
    if is_go:
        words = "Go implements its locks with futexes, which are invisible; only the "
        words += "locks of C code are visible"
        found.append(Finding(TOPIC, "language", "Go", LACK, words))
    if is_rust:
        words = (
            "std::sync is implemented with futexes, which are invisible; C libraries "
        )
        words += "and pthread calls are visible"
        found.append(Finding(TOPIC, "language", "Rust", LACK, words))
    if binary.resolve().name.startswith("python") or any(
        library.name.startswith("libpython") for library in libraries
    ):
        words = (
            "the GIL is a visible mutex; threading.Lock is a semaphore, which is not"
        )
        found.append(Finding(TOPIC, "language", "Python", NOTE, words))
    if binary.resolve().name == "java":
        words = (
            "the VM implements monitors and ReentrantLock; its own mutexes are visible"
        )
        found.append(Finding(TOPIC, "language", "Java", LACK, words))
    return found


def _libraries(program: Program, libraries: list[Path]) -> list[Finding]:
    found = []
    for library in libraries:
        for start, words in LIBRARIES:
            if library.name.startswith(start):
                text = f"invisible locks: {words}"
                found.append(Finding(TOPIC, "library", library.name, LACK, text))
        if library.name.startswith(ALLOCATORS):
            words = "its locks in malloc and free are visible, too"
            found.append(Finding(TOPIC, "library", library.name, FINE, words))
    if program.binary.resolve().name in ("mariadbd", "mysqld"):
        words = "InnoDB implements latches with futexes; other mutexes are visible"
        found.append(Finding(TOPIC, "program", program.binary.name, NOTE, words))
    return found
