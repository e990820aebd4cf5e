# SPDX-License-Identifier: MIT
"""What every other package uses: errors, output, progress, signals, pages, the host."""
