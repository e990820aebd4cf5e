# SPDX-License-Identifier: MIT
"""Read the threads and the memory of another process through /proc."""

from __future__ import annotations

import errno
import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hasp.base.elf.sections import read_elf
from hasp.base.errors import HaspError
from hasp.profile.symbols.modules import Module, ModuleMap

ELF_CLASS, ELF_64 = 4, 2
FUTEX = {"x86_64": 202, "aarch64": 98}
MACHINES = {"x86_64": 62, "aarch64": 183}  # of ELF headers


@dataclass(frozen=True)
class Call:
    """The system call of a thread, or the reason why it has none."""

    number: int  # -1: blocked outside of system calls; -2: on a CPU, or ready
    arguments: tuple[int, ...] = ()
    stack_pointer: int = 0


ON_CPU = Call(-2)


@dataclass(frozen=True)
class Mapping:
    """A range of the process's memory."""

    begin: int
    end: int
    executable: bool
    offset: int
    path: str  # "" for memory without a file


class Process:
    """A process that may be inspected; it is not stopped or changed."""

    def __init__(self, pid: int, proc: Path = Path("/proc")) -> None:
        """Raise HaspError if the process does not exist or must not be inspected."""
        self.pid = pid
        self._root = proc / str(pid)
        self._check()
        self.futex = FUTEX[platform.machine()]
        self.machine = MACHINES[platform.machine()]
        self.command = self._command()
        self._memory = self._open_memory()

    def close(self) -> None:
        """Close the process's memory."""
        os.close(self._memory)

    def threads(self) -> list[int]:
        """Return the thread ids; none if the process has ended."""
        try:
            return sorted(int(one.name) for one in (self._root / "task").iterdir())
        except OSError:
            return []

    def call(self, tid: int) -> Call | None:
        """Return the system call of a thread; None if it has ended."""
        try:
            words = (self._root / f"task/{tid}/syscall").read_text().split()
        except OSError:
            return None
        if not words or words[0] == "running":
            return ON_CPU
        if words[0] == "-1":
            return Call(-1, (), int(words[1], 16))
        values = tuple(int(word, 16) for word in words[1:])
        return Call(int(words[0]), values[:6], values[6])

    def state(self, tid: int) -> str:
        """Return the letter of a thread's state; "" if it has ended."""
        try:
            text = (self._root / f"task/{tid}/stat").read_text(errors="replace")
            return text.rpartition(")")[2].split()[0]
        except (OSError, IndexError):
            return ""

    def name(self, tid: int) -> str:
        """Return a thread's name."""
        try:
            return (self._root / f"task/{tid}/comm").read_text(errors="replace").strip()
        except OSError:
            return ""

    def inner_id(self, tid: int) -> int:
        """Return the thread id within the process's own PID namespace."""
        numbers = _status(self._root / f"task/{tid}/status", "NSpid").split()
        return int(numbers[-1]) if numbers else tid

    def read(self, address: int, length: int) -> bytes:
        """Return memory of the process; shorter if not all of it can be read."""
        try:
            return os.pread(self._memory, length, address)
        except (OSError, OverflowError):
            return b""

    def mappings(self) -> Iterator[Mapping]:
        """Yield the mapped ranges in order."""
        try:
            text = (self._root / "maps").read_text(errors="surrogateescape")
        except OSError:
            return
        for line in text.splitlines():
            words = line.split(maxsplit=5)
            begin, _, end = words[0].partition("-")
            path = words[5] if len(words) > 5 else ""
            yield Mapping(
                int(begin, 16), int(end, 16), "x" in words[1], int(words[2], 16), path
            )

    def modules(self) -> ModuleMap:
        """Return the mapped files; those of another mount namespace are read there."""
        root = "" if self._same_namespace("mnt") else str(self._root / "root")
        found: dict[str, list[Mapping]] = {}
        for mapping in self.mappings():
            if mapping.path.startswith("/"):
                found.setdefault(mapping.path, []).append(mapping)
        modules = []
        for path, parts in found.items():
            elf = read_elf(Path(root + path))
            if elf is None:
                continue
            begin = parts[0].begin - parts[0].offset
            page = os.sysconf("SC_PAGE_SIZE")
            bias = begin - elf.load_address // page * page
            modules.append(
                Module(begin, parts[-1].end, bias, elf.build_id, root + path)
            )
        return ModuleMap(modules)

    def _same_namespace(self, name: str) -> bool:
        try:
            return (self._root / f"ns/{name}").readlink() == Path(
                f"/proc/self/ns/{name}"
            ).readlink()
        except OSError:
            return True

    def _check(self) -> None:
        if not self._root.exists():
            raise HaspError(f"there is no process {self.pid}", "see `ps -e`")
        leader = _status(self._root / "status", "Tgid")
        if leader and int(leader) != self.pid:
            raise HaspError(
                f"{self.pid} is a thread of process {leader}", f"use -p {leader}"
            )
        state = self.state(self.pid)
        if state in ("Z", "X", ""):
            raise HaspError(f"process {self.pid} has ended", "see `ps -e`")
        if platform.machine() not in FUTEX:
            raise HaspError(
                f"-p does not work on {platform.machine()}",
                "start the program with `hasp profile -- COMMAND`",
            )
        try:
            with (self._root / "exe").open("rb") as file:
                head = file.read(ELF_CLASS + 1)
        except FileNotFoundError:
            raise HaspError(
                f"process {self.pid} is a thread of the kernel", "see `ps -e`"
            ) from None
        except OSError as problem:
            raise self._refused(problem) from None
        if head[:4] == b"\x7fELF" and head[ELF_CLASS] != ELF_64:
            raise HaspError(
                f"process {self.pid} is a 32-bit program",
                "only the locks of 64-bit programs can be inspected",
            )

    def _open_memory(self) -> int:
        try:
            (self._root / f"task/{self.pid}/syscall").read_bytes()
            return os.open(self._root / "mem", os.O_RDONLY | os.O_CLOEXEC)
        except (FileNotFoundError, ProcessLookupError):
            if self._root.exists():
                raise HaspError(
                    "this kernel does not show the system calls of other processes",
                    "it lacks CONFIG_HAVE_ARCH_TRACEHOOK; start the program with "
                    "`hasp profile -- COMMAND`",
                ) from None
            raise HaspError(f"process {self.pid} has ended", "see `ps -e`") from None
        except OSError as problem:
            raise self._refused(problem) from None

    def _refused(self, problem: OSError) -> HaspError:
        """Return the error that names the setting which forbids the inspection."""
        message = f"process {self.pid} may not be inspected"
        if problem.errno not in (errno.EPERM, errno.EACCES):
            return HaspError(f"{message}: {problem.strerror}", "")
        owner = _status(self._root / "status", "Uid").split()
        if owner and int(owner[0]) != os.geteuid() and os.geteuid() != 0:
            return HaspError(f"{message}: it belongs to another user", "use sudo")
        return HaspError(message, _remedy(os.geteuid() == 0, _ptrace_scope()))

    def _command(self) -> list[str]:
        try:
            raw = (self._root / "cmdline").read_bytes()
        except OSError:
            raw = b""
        words = raw.rstrip(b"\0").split(b"\0")
        return [word.decode(errors="replace") for word in words] if raw else []


def _remedy(is_root: bool, scope: int) -> str:
    if scope >= 3:
        return (
            "the setting kernel.yama.ptrace_scope is 3, which forbids it until the "
            "next boot"
        )
    if is_root:
        return (
            "root lacks the capability CAP_SYS_PTRACE here: give it to the container "
            "(docker run --cap-add SYS_PTRACE), or run Hasp outside of it"
        )
    if scope == 2:
        return "the setting kernel.yama.ptrace_scope is 2: use sudo"
    if scope == 1:
        return (
            "the setting kernel.yama.ptrace_scope is 1: use sudo, or "
            "`sudo sysctl kernel.yama.ptrace_scope=0`"
        )
    return "the program forbids it (setuid, or prctl(PR_SET_DUMPABLE)): use sudo"


def _ptrace_scope() -> int:
    try:
        return int(Path("/proc/sys/kernel/yama/ptrace_scope").read_text())
    except (OSError, ValueError):
        return 0


def _status(path: Path, name: str) -> str:
    """Return a field of a status file; "" if there is none."""
    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError:
        return ""
    found = (line for line in lines if line.startswith(f"{name}:"))
    return next(found, ":").partition(":")[2].strip()
