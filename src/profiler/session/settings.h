/* SPDX-License-Identifier: MIT */
/* The settings that `hasp profile` passes in the environment. */
#ifndef HASP_PROFILER_SESSION_SETTINGS_H
#define HASP_PROFILER_SESSION_SETTINGS_H

#include "profiler/hidden.h"

#include <stdbool.h>
#include <stdint.h>

struct settings {
    const char *path;        /* HASP_TRACE, absolute; NULL: record nothing */
    uint64_t session;        /* HASP_TRACE_SESSION, 64 bits in hexadecimal */
    bool sampled;            /* HASP_TRACE_MODE is "sample" */
    uint64_t bytes_limit;    /* HASP_TRACE_LIMIT */
    const char *lock;        /* HASP_TRACE_LOCK */
    const char *other_locks; /* HASP_TRACE_OTHER_LOCKS */
    const char *counter; /* HASP_TRACE_COUNTER; "": cache misses; see perf_counters.c */
};
extern struct settings settings RECORD_HIDDEN;

/* Reads the environment, which the program may change later. Returns whether to
 * record. */
bool settings_read(void);

#endif
