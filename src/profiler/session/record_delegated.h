/* SPDX-License-Identifier: MIT */
/* Delegates and their servers, which a library of the program reports. */
#ifndef HASP_PROFILER_SESSION_RECORD_DELEGATED_H
#define HASP_PROFILER_SESSION_RECORD_DELEGATED_H

#include "profiler/record/record.h"

/* Sums since the start of the process, its parents included. */
struct record_delegate_sums {
    uint64_t held_sections, holds, held_most;
    uint32_t host; /* 0: no server, else one of 1 to RECORD_HOSTS for this server */
    struct trace_server server;
};

enum { RECORD_HOSTS = 64 };

/* Begins to record an object. Returns its number for the functions below, or 0 if it is
 * not recorded. */
uint32_t record_delegate(const void *object, const char *executor,
                         void *caller) RECORD_HIDDEN;

/* A section that has ended. */
struct record_section {
    uint64_t waited, took; /* ticks: from its request until it began, and then */
    uint64_t bytes;        /* of its context; 0: not known */
    uint64_t stands_for;   /* sections */
};

/* Called by the thread that has the object. Returns how many sections the next one
 * shall stand for. */
uint32_t record_delegated(uint32_t number, const struct record_section *section,
                          const struct record_delegate_sums *sums) RECORD_HIDDEN;

/* No thread uses the object any more. */
void record_delegate_ended(uint32_t number,
                           const struct record_delegate_sums *sums) RECORD_HIDDEN;

/* In a forked child. */
void record_delegated_forget(void) RECORD_HIDDEN;

#endif
