# SPDX-License-Identifier: MIT
"""The model of a profile, which diagnosis, reports and the live view share."""
