/* SPDX-License-Identifier: MIT */
/*
 * Start and end of recording in a process.
 *
 * The recorder is off if HASP_TRACE names no file. Otherwise it waits until the process
 * creates a thread or has made SESSION_PATIENCE lock operations; then it creates the
 * file and is active. A forked child waits again, for a file of its own.
 */
#ifndef HASP_PROFILER_SESSION_SESSION_H
#define HASP_PROFILER_SESSION_SESSION_H

#include "profiler/record/calibrate.h"
#include "profiler/record/record.h"
#include "profiler/sample/sampler.h"

enum { SESSION_PATIENCE = 4096 };

/* Called before the program creates a thread. */
void session_creates_thread(void);

/* Called before the process may lose the ability to create a file. */
void session_needs_file(void);

/* The functions that the recorder itself calls. The hooks define them. */
struct session_calls {
    sampler_create *create;
    struct calibrate_operations mutex;
};
struct session_calls session_calls(void);

bool session_is_waiting(void);
bool session_is_active(void);

/* Called in a forked child. */
void session_forked(void);

/* Reports the locks that the calling thread holds at a regular exit of the process. Not
 * called for _exit, where holding locks is common. */
void session_ends_holding(void);

/* Called when the process ends or is replaced. Returns false in a vfork child, which
 * runs in its parent's memory. */
bool session_ends(enum trace_end how);

/* Called when replacing the process failed. */
void session_goes_on(void);

#endif
