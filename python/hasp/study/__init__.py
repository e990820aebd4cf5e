# SPDX-License-Identifier: MIT
"""A study: a campaign, its runs, and their evaluation."""
