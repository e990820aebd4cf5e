# SPDX-License-Identifier: MIT
"""Reports of a profile: text, tables, an HTML page and exports."""
