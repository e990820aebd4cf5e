# SPDX-License-Identifier: MIT
"""Validation: compares the simulator with published claims about locks."""
