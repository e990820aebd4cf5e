# SPDX-License-Identifier: MIT
"""Read the build ID of an open ELF file."""

from __future__ import annotations

from typing import Any


def build_id_of(elf: Any) -> str:
    """Return the build ID in hexadecimal; "" if the file has none."""
    for segment in elf.iter_segments("PT_NOTE"):
        for note in segment.iter_notes():
            if note["n_type"] == "NT_GNU_BUILD_ID":
                return str(note["n_desc"])
    section = elf.get_section_by_name(".note.gnu.build-id")
    for note in section.iter_notes() if section else ():
        return str(note["n_desc"])  # debug files lack segment contents
    return ""
