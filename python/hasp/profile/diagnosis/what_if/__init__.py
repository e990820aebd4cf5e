# SPDX-License-Identifier: MIT
"""Predict the gain if a lock is held for a shorter time, split or removed."""
