# SPDX-License-Identifier: MIT
"""Sample the locks of a running process from outside: `hasp profile -p PID`."""
