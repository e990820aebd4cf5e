# SPDX-License-Identifier: MIT
"""Which lock serves a program best: interleaved runs, their summary and report."""
