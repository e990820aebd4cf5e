# SPDX-License-Identifier: MIT
"""`hasp bench advice`: how much the advice on locks loses against the best lock."""
