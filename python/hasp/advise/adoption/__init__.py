# SPDX-License-Identifier: MIT
"""What to change in the source so that the locks of a plan need no preload."""
