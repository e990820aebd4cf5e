# SPDX-License-Identifier: MIT
"""One module per verb of the `hasp` command; main.py lists them.

A module parses its options, calls one function, and prints. It imports inside functions
what only running the verb needs, so that help, completion and errors come quickly.
"""
