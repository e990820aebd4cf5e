# SPDX-License-Identifier: MIT
"""Measuring locks and machines: benchmarks, the host, simulation, the model checker."""
