/* SPDX-License-Identifier: MIT */
/* Simulated time in other units. Both of POSIX' clocks show the same. */
#ifndef HASP_SIMULATOR_CLOCK_H
#define HASP_SIMULATOR_CLOCK_H

#include "platform/platform.h"

uint64_t ns_of_cycles(uint64_t cycles);

/* The first cycle at which it has passed; UINT64_MAX: never. */
uint64_t cycles_of_deadline(const struct deadline *deadline);

#endif
