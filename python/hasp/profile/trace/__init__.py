# SPDX-License-Identifier: MIT
"""Traces: the files that the recorder writes (src/profiler/trace.h)."""
