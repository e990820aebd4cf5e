# SPDX-License-Identifier: MIT
"""The thresholds of the causes: one place, with units and reasons.

Most detectors compare measured times with each other. These are the numbers that no
profile contains, and the shares below which a saving is not worth reporting.
"""

from __future__ import annotations

# ---- shares of the program's time (1 = all threads' active time)

# A smaller saving drowns in the noise of a run, and nobody changes a program for it.
MATTERS = 0.04
# A cause explains a wait if it accounts for at least half of it.
MOST = 0.5
# A part of a hold or wait that is worth reporting in addition to another part.
PART = 0.25

# The smallest share of the usable CPU time that the threads got in a quiet run.
DISTURBED = 0.75
# In a disturbed run, a smaller saving may come from the disturbance.
SMALL = 0.06

# ---- ratios

# A hold this many times as long as nearly all others has a different reason.
OUTLIER = 4.0

# ---- times in ns

# Sleeping in futex and being woken: two system calls, an interrupt to the other CPU and
# a context switch. Measured: 5 us on a bare machine to 60 us on a virtual one.
WAKE = 50_000
# CPU time of the system call that wakes a waiter.
CALL = 5_000
# The first use of a mapped page: 0.5 us on a bare machine, up to 2 us on a virtual one.
PAGE_FAULT = 1_000
# A cache line that another CPU has written is fetched in 30 to 200 ns.
TRANSFER = 100
# An uncontended lock and unlock pair: two atomic instructions, and two calls.
OPERATION = 25
# Sections up to this long hold a few instructions: what one atomic instruction could
# do. The clock readings that time a hold are part of the measured time (about 40 ns).
TINY = 250
# The kernel's scheduler lets a thread run for 3 ms or longer before it preempts it for
# another one; a running holder does not lose its CPU for less than that.
SLICE = 3_000_000

# ---- counts

# Fewer contended acquisitions than this do not make a distribution.
FEW = 30
# Fewer samples of a state than this are too few to estimate its share.
FEW_SAMPLES = 10
# Fewer locks of one site than this are not stripes.
STRIPES = 4
# With this many locks at one site, their memory and creation are a cost.
MANY_LOCKS = 50_000
# Bytes of a cache line on x86-64 and most of aarch64.
LINE = 64
