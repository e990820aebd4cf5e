# SPDX-License-Identifier: MIT
"""`hasp machine`: measures cache lines, waiting and context switches on this host."""
