# SPDX-License-Identifier: MIT
"""The demonstration: a real RocksDB under every lock (`python -m hasp.demo`)."""
