/* SPDX-License-Identifier: MIT */
/* Each thread's record, and the epochs that all maps and transactions of a native
 * program share. */
#ifndef HASP_STRUCTURES_MAP_RECORDS_H
#define HASP_STRUCTURES_MAP_RECORDS_H

#include "structures/map/epochs.h"

/* The epochs of the process. */
extern struct epochs threads_epochs __attribute__((visibility("hidden")));

/* The record of threads that have none yet: as if in a section for ever. */
extern struct epochs_record threads_none __attribute__((visibility("hidden")));

/* The calling thread's record, or threads_none. */
extern __thread struct epochs_record *threads_own
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

struct epochs_record *threads_add_record(void);

/* Returns the calling thread's record; NULL only if memory is exhausted. It returns to
 * the process when the thread ends. */
static inline struct epochs_record *threads_record(void)
{
    struct epochs_record *record = threads_own;
    return likely(record != &threads_none) ? record : threads_add_record();
}

#endif
