# SPDX-License-Identifier: MIT
"""The micro-benchmarks of `hasp bench locks`.

cases       the cases, as the native program lists them
runner      one measurement of one case under one lock
schedule    interleaved rounds within a time limit
rows        figures, ratios and words from samples
targets     the limits that Hasp's locks should reach, as data
neighbours  CPU time that other programs used
judge       compares rows with targets
report      tables of 80 columns
"""
