# SPDX-License-Identifier: MIT
"""The live view of a recording: lock activity, second by second."""
