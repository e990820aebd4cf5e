/* SPDX-License-Identifier: MIT */
/* Simulated time in nanoseconds. CLOCK_REALTIME and CLOCK_MONOTONIC are the same. */
#ifndef HASP_SIMULATOR_CLOCK_H
#define HASP_SIMULATOR_CLOCK_H

#include "platform/platform.h"

uint64_t ns_of_cycles(uint64_t cycles);

/* Returns the first cycle after the deadline, or UINT64_MAX if that never comes. */
uint64_t cycles_of_deadline(const struct deadline *deadline);

#endif
