# SPDX-License-Identifier: MIT
"""What would the program gain if a lock were held for a shorter time, or split?"""
