/* SPDX-License-Identifier: MIT */
/*
 * Detects programs that cannot end: no event is left, or all threads keep polling cells
 * that no thread changes.
 */
#ifndef HASP_SIMULATOR_DEADLOCK_H
#define HASP_SIMULATOR_DEADLOCK_H

#include <stdint.h>

/* Reports a deadlock if memory has not changed for too long before `time`. Called when
 * a thread's wait has timed out. */
void check_for_deadlock(uint64_t time);

/* Prints what each thread waits for, and exits with status 1. */
__attribute__((noreturn, cold)) void report_deadlock(void);

#endif
