/* SPDX-License-Identifier: MIT */
/* Each thread's record, and the memory of the process, for maps of native programs. */
#ifndef HASP_STRUCTURES_MAP_THREADS_H
#define HASP_STRUCTURES_MAP_THREADS_H

#include "structures/map/map.h"

/* The epochs of all maps of the process. */
extern struct epochs threads_epochs __attribute__((visibility("hidden")));

/* The record of threads that have none yet: as if in a section for ever. */
extern struct epochs_record threads_none __attribute__((visibility("hidden")));

/* The calling thread's record, or threads_none. */
extern __thread struct epochs_record *threads_own
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* malloc() for small blocks, whole pages for large ones. */
extern const struct map_memory threads_memory __attribute__((visibility("hidden")));

/* Prepares the process. May be called again. Returns false if memory is exhausted. */
bool threads_prepare(void);

struct epochs_record *threads_add_record(void);

/* Returns the calling thread's record; NULL only if memory is exhausted. It returns to
 * the process when the thread ends. */
static inline struct epochs_record *threads_record(void)
{
    struct epochs_record *record = threads_own;
    return likely(record != &threads_none) ? record : threads_add_record();
}

#endif
