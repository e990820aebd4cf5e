# SPDX-License-Identifier: MIT
"""Advice on locks: forecasts, proofs by measurement, and site plans."""
