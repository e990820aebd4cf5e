# SPDX-License-Identifier: MIT
"""Which lock hurts: recording, the model of a trace, diagnosis and reports."""
