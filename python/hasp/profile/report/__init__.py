# SPDX-License-Identifier: MIT
"""A profile as people and other tools read it: text, tables, a page, and exports."""
