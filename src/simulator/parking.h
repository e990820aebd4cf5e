/* SPDX-License-Identifier: MIT */
/* Futexes. Sleeping threads are woken in FIFO order by address. */
#ifndef HASP_SIMULATOR_PARKING_H
#define HASP_SIMULATOR_PARKING_H

#include "simulator/thread.h"

/* Wakes a thread whose deadline has passed. */
void stop_sleeping(struct thread *thread, uint64_t time);

#endif
