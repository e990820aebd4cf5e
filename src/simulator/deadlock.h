/* SPDX-License-Identifier: MIT */
/*
 * Programs that can never end: nothing is left to happen, or threads only look again
 * and again at what nobody changes.
 */
#ifndef HASP_SIMULATOR_DEADLOCK_H
#define HASP_SIMULATOR_DEADLOCK_H

#include <stdint.h>

/* A thread has waited in vain for as long as it wanted to. */
void look_for_deadlock(uint64_t time);

/* Says who waits for whom, and exits with status 1. */
__attribute__((noreturn, cold)) void report_deadlock(void);

#endif
