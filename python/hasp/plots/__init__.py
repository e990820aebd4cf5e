# SPDX-License-Identifier: MIT
"""One module per figure; matplotlib is imported only when a figure is made."""
