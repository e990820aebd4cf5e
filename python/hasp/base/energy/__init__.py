# SPDX-License-Identifier: MIT
"""The energy that the processor packages use, where the host tells it."""
