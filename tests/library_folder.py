# SPDX-License-Identifier: MIT
"""Installs the library into a folder, and compiles programs against it."""

from __future__ import annotations

import os
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

CXX = (".cpp", ".hpp")


@dataclass(frozen=True)
class Installed:
    """The library in a folder of its own, as after `meson install`."""

    prefix: Path
    description: Path  # hasp.pc

    def flags(self, *options: str) -> list[str]:
        """Return what pkg-config prints."""
        environment = {**os.environ, "PKG_CONFIG_PATH": str(self.description.parent)}
        command = ["pkg-config", *options, "hasp"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return shlex.split(done.stdout)

    @property
    def library(self) -> Path:
        return self.description.parent.parent

    def compile(
        self, source: Path, program: Path, *options: str, link: list[str] | None = None
    ) -> Path:
        """Compile a program outside the tree, as its user would.

        `link`: what it is linked with, if that is not the library.
        """
        cxx = source.suffix in CXX
        compiler = ["g++", "-std=c++17"] if cxx else ["gcc", "-std=c11"]
        warnings = ("-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
        command = [*compiler, *warnings, *options, *self.flags("--cflags"), str(source)]
        command += ["-o", str(program)]
        command += self.flags("--libs") if link is None else link
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return program

    def include(
        self, compiler: str, headers: str, *options: str
    ) -> subprocess.CompletedProcess[str]:
        """Compile a source that includes these headers, and nothing else."""
        words = compiler.split()
        language = "c++" if "++" in words[0] else "c"
        command = [*words, *self.flags("--cflags"), *options, "-x", language, "-"]
        text = "".join(f"#include <hasp/{name}>\n" for name in headers.split())
        return subprocess.run(command, input=text, capture_output=True, text=True)

    def run(self, *command: str | Path) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "LD_LIBRARY_PATH": str(self.library)}
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=50
        )
