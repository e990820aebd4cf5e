# SPDX-License-Identifier: MIT
"""Resolve the addresses of a program to functions, source lines and objects."""
