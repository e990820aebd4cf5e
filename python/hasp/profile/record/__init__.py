# SPDX-License-Identifier: MIT
"""Record a program: start it, follow it, and summarise the recording."""
