/* SPDX-License-Identifier: MIT */
/* Comparisons of a cell with a value: see platform/equals.h. */
#ifndef HASP_PLATFORM_SIMULATED_EQUALS_BACKEND_H
#define HASP_PLATFORM_SIMULATED_EQUALS_BACKEND_H

#define equals_relaxed(c, v) (load_relaxed(c) == (v))
#define equals_acquire(c, v) (load_acquire(c) == (v))

#endif
