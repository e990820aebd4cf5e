# SPDX-License-Identifier: MIT
"""The best lock for a program: a race of all candidates, with a proof at its end."""
