/* SPDX-License-Identifier: MIT */
/* Delegated sections in the trace. Include trace.h instead. */
#ifndef HASP_PROFILER_TRACE_DELEGATION_H
#define HASP_PROFILER_TRACE_DELEGATION_H

#include "profiler/trace_histogram.h"

#include <stdint.h>

/* The first sections of a delegate are all reported, later ones at random. */
enum { TRACE_SECTIONS_REPORTED = 1024 };

/* A delegate of the library: an object whose sections an executor runs. Written by the
 * thread that has the object, after each section that is reported, which counts for all
 * that it stands for. */
struct trace_delegate {
    uint64_t address;
    char executor[32];
    uint32_t created_stack, site; /* of its initialisation */
    uint32_t server;              /* record, or 0: the executor has none */
    uint32_t creations;           /* at the same address and site */
    uint64_t born, died;          /* ticks; died 0: alive */
    uint64_t sections;            /* an estimate above TRACE_SECTIONS_REPORTED */
    /* As the executor counts them. Times in which one thread executed sections without
     * another in between. Such a time counts once it is over. */
    uint64_t held_sections, holds, held_most;
    uint64_t contexts, context_bytes, context_most; /* whose size is known */
    uint64_t wait_ticks, wait_most;       /* from the request to the section */
    uint64_t service_ticks, service_most; /* of the section */
    struct trace_histogram wait, service;
};

/* Threads that execute the sections of several delegates. A round is a search of the
 * lines of all clients that has found a request. */
struct trace_server {
    char executor[32];
    uint32_t number, reserved; /* among those of the executor */
    uint64_t sections, rounds;
    uint64_t lines;      /* that there were in these rounds */
    uint64_t serialised; /* rounds with requests for several delegates */
    uint64_t replaced;   /* a section stopped the server, and another thread went on */
};

#endif
