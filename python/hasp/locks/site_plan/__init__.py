# SPDX-License-Identifier: MIT
"""Plans: a lock algorithm for each site of a program that creates mutexes."""
