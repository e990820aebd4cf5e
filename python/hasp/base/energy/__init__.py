# SPDX-License-Identifier: MIT
"""Measures the energy that the processor packages use, where the host has counters."""
