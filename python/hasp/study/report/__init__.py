# SPDX-License-Identifier: MIT
"""The report of a study: one summary as data, and the forms that it is shown in."""
