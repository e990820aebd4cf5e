# SPDX-License-Identifier: MIT
"""The report of a study: one summary as data, and its output formats."""
