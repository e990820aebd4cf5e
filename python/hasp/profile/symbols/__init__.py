# SPDX-License-Identifier: MIT
"""Addresses of a program as functions, source lines and objects."""
