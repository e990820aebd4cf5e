/* SPDX-License-Identifier: MIT */
/*
 * A lock of its own for each site: the plan that HASP_PLAN names.
 *
 * While a plan is active, slot 0 of the table holds operations that find the lock for a
 * mutex at its first use and then go on with that lock's; a mutex that is seen being
 * made gets its index right there. Without a plan nothing of this runs.
 */
#ifndef HASP_PRELOAD_PLAN_H
#define HASP_PRELOAD_PLAN_H

#include "locks/list/descriptor.h"

enum { PLAN_FRAMES = 4, PLAN_ENTRIES = 256, PLAN_MODULES = 64 };

/* A range of addresses in a module's file, both ends included. */
struct plan_place {
    unsigned module;
    uintptr_t first, last;
};

struct plan_entry {
    const char *site; /* for people */
    uint8_t algorithm; /* slot of the table */
    uint8_t depth;     /* return addresses to compare; 0: the mutex's own address */
    struct atomic_u8 matched;
    struct plan_place place[PLAN_FRAMES];
};

struct plan_module {
    const char *build_id; /* hexadecimal, or "-" */
    const char *name;
    struct atomic_u64 bias; /* address minus address in the file */
    struct atomic_u32 loaded;
};

struct plan {
    unsigned entries, modules;
    bool asks_frames;
    struct plan_entry entry[PLAN_ENTRIES];
    struct plan_module module[PLAN_MODULES];
};

extern struct plan plan __attribute__((visibility("hidden")));
extern bool plan_active __attribute__((visibility("hidden")));

/* Reads the file into `plan`; ends the process when that is impossible. */
void plan_read(const char *path);

/* Begins: mutexes that no entry matches get slot `usual`. */
void plan_begin(unsigned usual, bool verbose, bool report);

/* The operations for slot 0. */
extern const struct lock_operations plan_operations
    __attribute__((visibility("hidden")));

/* Gives the mutex its algorithm, if nobody has yet. `caller` is a return address of the
 * operation, or NULL if that would take a look at the stack. */
void plan_resolve(struct lock *lock, const void *caller);

/* plan_modules.c: brings the modules' addresses up to date. */
void plan_find_modules(void);

/* A plug-in may be about to appear. */
void plan_expect_modules(void);

/* Whether the code at this address is Hasp's. */
bool plan_is_own(uintptr_t address);

#endif
