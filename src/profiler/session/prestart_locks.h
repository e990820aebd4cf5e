/* SPDX-License-Identifier: MIT */
/*
 * Locks that are made before anything is recorded: programs make most of theirs while
 * they have one thread. Kept in memory with the innermost frames, and made known when
 * recording begins.
 */
#ifndef HASP_PROFILER_SESSION_PRESTART_LOCKS_H
#define HASP_PROFILER_SESSION_PRESTART_LOCKS_H

#include "profiler/store/lock_registry.h"

void prestart_created(const void *object, const struct record_as *as, uint32_t flags,
                      void *caller);
void prestart_destroyed(const void *object);
void prestart_replay(void);

#endif
