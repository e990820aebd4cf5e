# SPDX-License-Identifier: MIT
"""ELF files: sections, build ids, demangled names."""
