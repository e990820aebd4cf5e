# SPDX-License-Identifier: MIT
"""Modules that every other package uses: errors, output, progress, signals, host."""
