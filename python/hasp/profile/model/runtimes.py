# SPDX-License-Identifier: MIT
"""Runtimes and libraries whose own locks bypass pthread."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Runtime:
    """A runtime that a program uses."""

    id: str  # java, python, go, rust, dotnet, openmp, glib, folly, abseil
    name: str  # "Java", "CPython"
    evidence: str  # the library's file name, or the symbol or section that shows it
    unseen: str  # its locks that Hasp does not see, such as "monitors"
    tool: str  # the tool that shows them
