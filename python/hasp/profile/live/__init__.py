# SPDX-License-Identifier: MIT
"""The live view of a recording: what its locks do now, second by second."""
