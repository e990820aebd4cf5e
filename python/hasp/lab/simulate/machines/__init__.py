# SPDX-License-Identifier: MIT
"""The machines that can be simulated: TOML files, their schema, and what reads them."""
