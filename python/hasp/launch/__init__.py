# SPDX-License-Identifier: MIT
"""Starting programs: checks of the executable, the preload, children and servers."""
