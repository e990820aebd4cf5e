# SPDX-License-Identifier: MIT
"""The list of lock algorithms, selections from it, and site plans."""
