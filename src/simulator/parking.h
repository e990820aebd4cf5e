/* SPDX-License-Identifier: MIT */
/* Futexes: threads asleep by address, first come, first served. */
#ifndef HASP_SIMULATOR_PARKING_H
#define HASP_SIMULATOR_PARKING_H

#include "simulator/thread.h"

/* Its deadline has passed. */
void stop_sleeping(struct thread *thread, uint64_t time);

#endif
