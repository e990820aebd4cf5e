# SPDX-License-Identifier: MIT
"""The actions of `hasp study`, each a module of that name."""
