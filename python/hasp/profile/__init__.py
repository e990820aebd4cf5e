# SPDX-License-Identifier: MIT
"""What a profile says: the model that reports, the advisor and the live view share."""
