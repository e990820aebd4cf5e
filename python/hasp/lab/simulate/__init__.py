# SPDX-License-Identifier: MIT
"""Runs workloads on simulated machines: many runs at a time, tables, validation."""
