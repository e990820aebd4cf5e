# SPDX-License-Identifier: MIT
"""Starts programs: checks of the executable, the preload, children and servers."""
