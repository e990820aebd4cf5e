# SPDX-License-Identifier: MIT
"""The demonstration: RocksDB under a dozen locks (`python -m hasp.lab.demo`)."""
