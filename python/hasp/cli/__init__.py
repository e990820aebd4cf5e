# SPDX-License-Identifier: MIT
"""One module per verb of the `hasp` command; main.py lists them.

A module parses its options, calls one function, and prints. Imports that only the run
of the verb needs are inside functions, so that help, completion and errors appear
quickly.
"""
