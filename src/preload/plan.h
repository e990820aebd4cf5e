/* SPDX-License-Identifier: MIT */
/*
 * Plans: an algorithm for each site, from the file that HASP_PLAN names.
 *
 * While a plan is active, slot 0 of the dispatch table holds operations that select the
 * algorithm of a mutex at its first use and then call that algorithm's operations.
 * pthread_mutex_init selects it right away. Other kinds of objects ask plan_slot() when
 * they are initialised or used first. Without a plan, none of this code runs.
 */
#ifndef HASP_PRELOAD_PLAN_H
#define HASP_PRELOAD_PLAN_H

#include "locks/list/descriptor.h"

enum { PLAN_FRAMES = 4, PLAN_ENTRIES = 256, PLAN_MODULES = 64 };

/* The kind of object that an entry concerns. All spin locks of a process have the same
 * algorithm, because their 4 bytes have no room for its index. */
enum plan_kind { PLAN_MUTEX, PLAN_RWLOCK, PLAN_BARRIER, PLAN_KINDS };

/* A range of addresses in a module's file, both ends included. */
struct plan_range {
    unsigned module;
    uintptr_t first, last;
};

struct plan_entry {
    const char *site; /* for messages, as is the name */
    const char *name;
    uint8_t kind;  /* enum plan_kind */
    uint8_t slot;  /* index of the algorithm in the list of the kind, plus one */
    uint8_t depth; /* return addresses to compare; 0: the object's own address */
    struct atomic_u8 matched;
    struct plan_range range[PLAN_FRAMES];
};

struct plan_module {
    const char *build_id; /* hexadecimal, or "-" */
    const char *name;
    struct atomic_u64 bias; /* load address minus address in the file */
    struct atomic_u32 loaded;
};

struct plan {
    unsigned entries, modules;
    unsigned entries_of[PLAN_KINDS];
    bool uses_frames; /* some entry has a depth above 0 */
    struct plan_entry entry[PLAN_ENTRIES];
    struct plan_module module[PLAN_MODULES];
};

extern struct plan plan __attribute__((visibility("hidden")));
extern bool plan_active __attribute__((visibility("hidden")));

/* The name of a kind, as the file has it: "mutex". */
extern const char *const plan_kind_names[PLAN_KINDS]
    __attribute__((visibility("hidden")));

/* Reads the file into `plan`. Ends the process with a message if that fails. */
void plan_read(const char *path);

/* Activates the plan. Mutexes that no entry matches get slot `fallback`. `verbose`
 * reports each entry's first match, `report` the entries that never matched. */
void plan_begin(unsigned fallback, bool verbose, bool report);

/* The operations for slot 0. */
extern const struct lock_operations plan_operations
    __attribute__((visibility("hidden")));

/* Sets the algorithm of the mutex unless it is set. `caller` is the return address of
 * the operation; NULL: to be found by unwinding the stack. */
void plan_resolve(struct lock *lock, const void *caller);

/* Returns the slot of the first entry for an object of this kind, or 0 if none matches:
 * the default of the kind then applies. `caller` is as for plan_resolve(). */
unsigned plan_slot(enum plan_kind kind, const void *object, const void *caller);

/* Returns whether any entry concerns this kind. */
static inline bool plan_concerns(enum plan_kind kind)
{
    return plan.entries_of[kind] != 0;
}

/* plan_modules.c: updates the modules' load addresses. */
void plan_find_modules(void);

/* Called before dlopen: a module of the plan may be loaded. */
void plan_expect_modules(void);

/* Returns whether the address is in Hasp's own code. */
bool plan_is_own(uintptr_t address);

#endif
