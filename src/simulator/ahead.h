/* SPDX-License-Identifier: MIT */
/*
 * Accesses that a thread begins before it executes them, as an out-of-order processor
 * does with those that do not depend on earlier ones. So their latencies overlap.
 *
 * A core has at most model.misses_in_flight of them at a time; before it begins another
 * one, it waits until the first has ended. Where atomics and stores execute at a line's
 * home (protocol `home`), cores execute in order, and nothing begins early.
 */
#ifndef HASP_SIMULATOR_AHEAD_H
#define HASP_SIMULATOR_AHEAD_H

#include "simulator/thread.h"

/* Requests the line for reading or writing, unless the thread can already access it. */
void begin_access_ahead(struct thread *self, const void *address, bool writes);

#endif
