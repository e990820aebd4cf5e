# SPDX-License-Identifier: MIT
"""The micro-benchmarks behind `hasp bench locks`.

cases       what can be measured, as the native program lists it
runner      one measurement of one case under one lock
schedule    interleaved rounds within a time limit
rows        samples to figures, ratios and words
targets     what Hasp's locks should reach, as data
neighbours  how much CPU time others took meanwhile
judge       rows against targets
report      tables of 80 columns
"""
