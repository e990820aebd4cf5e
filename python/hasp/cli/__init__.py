# SPDX-License-Identifier: MIT
"""One module per verb of the `hasp` command; main.py lists them."""
