# SPDX-License-Identifier: MIT
"""The actions of `hasp study`, one module for each."""
