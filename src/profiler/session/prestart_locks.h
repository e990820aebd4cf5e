/* SPDX-License-Identifier: MIT */
/*
 * Locks created before recording starts: programs create most of their locks while they
 * have one thread. They are kept in memory with their innermost frames and registered
 * when recording starts.
 */
#ifndef HASP_PROFILER_SESSION_PRESTART_LOCKS_H
#define HASP_PROFILER_SESSION_PRESTART_LOCKS_H

#include "profiler/store/lock_registry.h"

void prestart_created(const void *object, const struct record_as *as, uint32_t flags,
                      void *caller);
void prestart_destroyed(const void *object);
void prestart_replay(void);

#endif
