# SPDX-License-Identifier: MIT
"""How will a recorded program scale on a simulated machine?"""
