# SPDX-License-Identifier: MIT
"""The lock algorithms as Python sees them: the list, selections, and site plans."""
