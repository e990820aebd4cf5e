# SPDX-License-Identifier: MIT
"""The demonstration: a real RocksDB under a dozen locks (`python -m hasp.lab.demo`)."""
