# SPDX-License-Identifier: MIT
"""Published claims about locks, and whether the simulator agrees with them."""
