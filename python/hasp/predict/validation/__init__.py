# SPDX-License-Identifier: MIT
"""Compare predictions with a study's measurements; a developer tool."""
