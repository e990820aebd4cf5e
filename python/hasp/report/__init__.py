# SPDX-License-Identifier: MIT
"""Results as text: tables for the terminal, Markdown and CSV."""
