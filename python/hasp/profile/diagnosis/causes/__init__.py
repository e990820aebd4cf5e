# SPDX-License-Identifier: MIT
"""One module for each cause of trouble with locks; `catalogue` lists them all."""
