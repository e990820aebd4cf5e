# SPDX-License-Identifier: MIT
"""What being profiled costs a program, measured from outside."""
