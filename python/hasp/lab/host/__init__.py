# SPDX-License-Identifier: MIT
"""`hasp machine`: what this machine does to a cache line, to a waiter, to a switch."""
