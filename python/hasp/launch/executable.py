# SPDX-License-Identifier: MIT
"""Finds the program that a command starts, and checks that it can be interposed.

Reads only the ELF fields that `hasp run` needs. `hasp doctor` reads more with
pyelftools, which takes 40 ms to import.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from hasp.base.errors import HaspError
from hasp.locks import native

ELF_MAGIC = b"\x7fELF"
CLASS_32 = 1
BIG_ENDIAN = 2
TYPE_EXEC = 2
TYPE_DYN = 3
SEGMENT_INTERPRETER = 3
MACHINES = {3: "32-bit x86", 40: "32-bit ARM", 62: "x86-64", 183: "AArch64"}
MACHINES |= {8: "MIPS", 20: "PowerPC", 21: "64-bit PowerPC", 22: "S/390", 243: "RISC-V"}
MACHINES |= {258: "LoongArch", 2: "SPARC"}
# The loader of glibc is called ld-linux-x86-64.so.2, ld-linux-aarch64.so.1, ld64.so.2,
# ld.so.1 or, by its own version, ld-2.31.so.
GLIBC_LOADERS = ("ld-linux", "ld64.so", "ld.so", "ld-2.")
LONGEST_SCRIPT_LINE = 256
DEEPEST_SCRIPT = 5  # the kernel's limit for scripts interpreted by scripts

CHECK_NAME = "check the name, or give the path of the program"


class Program(NamedTuple):
    """A program that can be interposed."""

    path: Path  # the file named by the command
    binary: Path  # its ELF file: `path`, or the interpreter of a script
    loader: Path  # the dynamic loader of `binary`
    scripts: tuple[Path, ...]  # the scripts between `path` and `binary`


class ElfHead(NamedTuple):
    """Fields of an ELF file."""

    is_64_bit: bool
    machine: int
    kind: int
    loader: str | None


def find(word: str, environment: Mapping[str, str]) -> Path:
    """Return the file that the first word of a command names, as a shell finds it."""
    if not word:
        raise HaspError("the name of the program is empty", CHECK_NAME)
    if "/" in word:
        return _checked(Path(word))
    not_executable = None
    for folder in environment.get("PATH", os.defpath).split(":"):
        candidate = Path(folder or ".") / word
        if _is_file(candidate):
            if os.access(candidate, os.X_OK):
                return candidate
            not_executable = not_executable or candidate
    if not_executable:
        return _checked(not_executable)
    here = f", or use `./{word}` for the file in this folder"
    raise HaspError(
        f"no program called {word!r} is in PATH",
        CHECK_NAME + (here if Path(word).is_file() else ""),
    )


def _is_file(path: Path) -> bool:
    """Return true if there is a file, as far as this user may see.

    After `su`, PATH still has folders of root, which the user may not search.
    """
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False


def to_execute(word: str, environment: Mapping[str, str]) -> str:
    """Return the path for execve for the first word of a command.

    A word that is a path is returned as written: a script sees it as its $0, and
    `./job` differs from `job` there.
    """
    found = str(find(word, environment))
    if "/" in word:
        return word
    return found if "/" in found else f"./{found}"


def _checked(path: Path) -> Path:
    try:
        facts = path.stat()
    except OSError as problem:
        raise HaspError(f"{path}: {problem.strerror}", CHECK_NAME) from None
    if stat.S_ISDIR(facts.st_mode):
        raise HaspError(f"{path} is a folder", "name a program in it")
    if not os.access(path, os.X_OK) or not facts.st_mode & 0o111:
        raise HaspError(
            f"{path} is not executable",
            f"run `chmod +x {path}`, or name its interpreter first",
        )
    return path


def examine(word: str, environment: Mapping[str, str]) -> Program:
    """Return the program of a command; HaspError if Hasp cannot interpose it."""
    path = find(word, environment)
    scripts: list[Path] = []
    binary = path
    while True:
        head = _read(binary)
        if not head.startswith(b"#!"):
            break
        scripts.append(binary)
        if len(scripts) > DEEPEST_SCRIPT:
            raise HaspError(
                f"{path} is a script whose interpreters are scripts, too deeply nested",
                "start the last interpreter directly",
            )
        binary = _interpreter(binary, head, environment)
    _refuse_privileges(binary)
    return Program(path, binary, _loader(binary, head), tuple(scripts))


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            head = file.read(LONGEST_SCRIPT_LINE)
    except OSError as problem:
        raise HaspError(
            f"cannot read {path} to check whether it can be interposed: "
            f"{problem.strerror}",
            "run a copy that you may read",
        ) from None
    if not head.startswith((b"#!", ELF_MAGIC)):
        raise HaspError(
            f"{path} is neither an ELF program nor a script with a #! line",
            "begin a script with a line such as #!/bin/sh, or name its interpreter",
        )
    return head


def _interpreter(script: Path, head: bytes, environment: Mapping[str, str]) -> Path:
    words = head[2:].split(b"\n")[0].decode(errors="replace").split()
    if not words:
        raise HaspError(
            f"the #! line of {script} names no interpreter", "write #!/bin/sh there"
        )
    interpreter = Path(words[0])
    if not interpreter.exists():
        raise HaspError(
            f"the interpreter of {script}, {interpreter}, does not exist",
            "install it, or correct the first line of the script",
        )
    if interpreter.name != "env":
        return _checked(interpreter)
    for word in words[1:]:
        if word.startswith("-i") or word == "-":
            raise HaspError(
                f"{script} is started by `env -i`, which removes LD_PRELOAD",
                "name its interpreter on the command line instead",
            )
        if not word.startswith("-") and "=" not in word:
            return find(word, environment)
    raise HaspError(
        f"the #! line of {script} names no program after {interpreter}",
        "write for example #!/usr/bin/env python3 there",
    )


def _refuse_privileges(binary: Path) -> None:
    mode = binary.stat().st_mode
    gained = ""
    if mode & stat.S_ISUID:
        gained = "a set-user-ID program"
    elif mode & stat.S_ISGID and mode & stat.S_IXGRP:
        gained = "a set-group-ID program"
    elif _has_capabilities(binary):
        gained = "a program with file capabilities"
    if gained:
        raise HaspError(
            f"{binary} is {gained}: the loader ignores LD_PRELOAD for it",
            "run a copy without that privilege, as a user who does not need it",
        )


def _has_capabilities(binary: Path) -> bool:
    try:
        return bool(os.getxattr(binary, "security.capability"))
    except OSError:
        return False


def read_elf_head(path: Path) -> ElfHead:
    """Return the fields of an ELF file; HaspError if it is damaged."""
    try:
        with path.open("rb") as file:
            ident = file.read(64)
            order = ">" if ident[5] == BIG_ENDIAN else "<"
            kind, machine = struct.unpack_from(f"{order}HH", ident, 16)
            if ident[4] == CLASS_32:
                return ElfHead(False, machine, kind, None)
            (table,) = struct.unpack_from(f"{order}Q", ident, 32)
            size, count = struct.unpack_from(f"{order}HH", ident, 54)
            for index in range(count):
                file.seek(table + index * size)
                entry = struct.unpack(f"{order}IIQQQQ", file.read(40))
                if entry[0] == SEGMENT_INTERPRETER:
                    file.seek(entry[2])
                    loader = file.read(entry[5]).rstrip(b"\0").decode()
                    return ElfHead(True, machine, kind, loader)
    except (struct.error, IndexError, UnicodeDecodeError):
        raise HaspError(
            f"{path} is a damaged ELF file", "build or install it again"
        ) from None
    return ElfHead(True, machine, kind, None)


def _loader(binary: Path, head: bytes) -> Path:
    """Return the dynamic loader; HaspError if it cannot load Hasp's library."""
    elf = read_elf_head(binary)
    if not elf.is_64_bit:
        raise HaspError(
            f"{binary} is a 32-bit program; Hasp supports 64-bit programs only",
            "use a 64-bit build of it",
        )
    ours = read_elf_head(native.library()).machine
    if elf.machine != ours:
        theirs = MACHINES.get(elf.machine, f"machine number {elf.machine}")
        raise HaspError(
            f"{binary} is built for {theirs}, Hasp for {MACHINES.get(ours, ours)}",
            "use a build of it for this machine",
        )
    if elf.kind not in (TYPE_EXEC, TYPE_DYN):
        raise HaspError(
            f"{binary} is an object file or a core, not a program", CHECK_NAME
        )
    if elf.loader is None:
        if binary.resolve().name.startswith(GLIBC_LOADERS):
            return binary  # glibc's own loader, which honours LD_PRELOAD
        raise HaspError(
            f"{binary} is statically linked: no library can be preloaded into it",
            "link it dynamically (without -static); Go programs need cgo, and even "
            "then Go's own locks do not use pthread",
        )
    loader = Path(elf.loader)
    if loader.name.startswith("ld-musl"):
        raise HaspError(
            f"{binary} is linked against musl, whose mutexes have another layout",
            "use a build of it for glibc",
        )
    if not loader.name.startswith(GLIBC_LOADERS):
        raise HaspError(
            f"{binary} is not linked against glibc: its loader is {loader}",
            "use a build of it for glibc",
        )
    if not loader.exists():
        raise HaspError(
            f"{binary} needs the loader {loader}, which is not on this machine",
            "install the C library it was built for",
        )
    return loader
