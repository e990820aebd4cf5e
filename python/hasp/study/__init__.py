# SPDX-License-Identifier: MIT
"""A study: a plan, its runs, and what they mean."""
