# SPDX-License-Identifier: MIT
"""The overhead of profiling a program, measured from outside."""
