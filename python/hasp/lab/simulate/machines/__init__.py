# SPDX-License-Identifier: MIT
"""Machines to simulate: TOML files, their schema and their parser."""
