# SPDX-License-Identifier: MIT
"""Rewrites a C program so that the sections of a lock can be delegated."""
