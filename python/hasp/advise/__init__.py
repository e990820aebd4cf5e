# SPDX-License-Identifier: MIT
"""What to do about a lock: forecasts, proofs by measurement, and site plans."""
