# SPDX-License-Identifier: MIT
"""Plan files: a lock of its own for each place of a program that makes mutexes."""
