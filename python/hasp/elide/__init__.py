# SPDX-License-Identifier: MIT
"""What eliding a program's locks would gain, predicted or measured."""
