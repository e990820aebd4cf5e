# SPDX-License-Identifier: MIT
"""Profiling: recording, the model of a trace, diagnosis and reports."""
