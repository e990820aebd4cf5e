/* SPDX-License-Identifier: MIT */
/*
 * What it costs to wake a thread on another CPU, by how long that CPU has been idle. A
 * CPU that has just become idle is not in a deep sleep yet, or its hypervisor still
 * polls for it, so it answers sooner than one that has been idle for long.
 */
#ifndef HASP_SIMULATOR_WAKEUPS_H
#define HASP_SIMULATOR_WAKEUPS_H

#include <stdint.h>

enum { WAKEUPS_MAX = 32 };

struct wakeup {
    uint64_t idle;       /* the costs apply from this idle time on */
    uint64_t futex_wake; /* from the call until the woken thread runs */
    uint64_t waking;     /* added to the call */
};

/* A machine file's table; without entries, the costs do not depend on the time. */
struct wakeups {
    unsigned count;
    struct wakeup entry[WAKEUPS_MAX];
};

/* Adds the next entry. Returns what is wrong with it, or NULL. */
const char *wakeups_add(struct wakeups *wakeups, struct wakeup wakeup);

/* Returns the cost of waking a thread whose CPU has been idle for that time; 0: the CPU
 * is busy. */
struct wakeup wakeup_after(uint64_t idle);

/* Returns the same if two threads take turns: each sleeps only while the other wakes
 * up. That is how hasp-calibrate measures the cost of parking. */
struct wakeup wakeup_in_turns(void);

#endif
