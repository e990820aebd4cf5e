# SPDX-License-Identifier: MIT
"""Model checking: runs the explorer over locks and clients and reports on them."""
