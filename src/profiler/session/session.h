/* SPDX-License-Identifier: MIT */
/*
 * The recorder in the life of its process.
 *
 * Off, where HASP_TRACE names no file. Else waiting, until the process creates a thread
 * or has made SESSION_PATIENCE lock operations; then active: the file is there. A
 * forked child waits anew, for a file of its own.
 */
#ifndef HASP_PROFILER_SESSION_SESSION_H
#define HASP_PROFILER_SESSION_SESSION_H

#include "profiler/record/calibrate.h"
#include "profiler/record/record.h"
#include "profiler/sample/sampler.h"

enum { SESSION_PATIENCE = 4096 };

/* The process is about to have a second thread. */
void session_creates_thread(void);

/* Soon it may not be able to make a file. */
void session_needs_file(void);

/* What the recorder itself calls of the hooks, and behind them; the hooks' to say. */
struct session_calls {
    sampler_create *create;
    struct calibrate_operations mutex;
};
struct session_calls session_calls(void);

bool session_is_waiting(void);
bool session_is_active(void);

/* In a forked child. */
void session_forked(void);

/* What the calling thread holds when the process ends in order is held for ever. (By
 * _exit it may well end so.) */
void session_ends_holding(void);

/* The process ends or is replaced; false: this is a child in its parent's memory. */
bool session_ends(enum trace_end how);

/* That has failed: it goes on. */
void session_goes_on(void);

#endif
