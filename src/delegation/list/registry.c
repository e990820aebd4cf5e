/* SPDX-License-Identifier: MIT */
/* Expands executors.def into the list of descriptor.h. Compiled once per platform. */
#include "delegation/list/descriptor.h"

#include "delegation/algorithms/under_lock.h"
#include "locks/list/names.h"
#include "locks/list/properties.h"

#include <string.h>

#define DEFINE_ENTRIES(id, prefix, waits)                                              \
    static bool id##_init_entry(struct delegate *delegate)                             \
    {                                                                                  \
        return prefix##_init(delegate);                                                \
    }                                                                                  \
    static void *id##_run_entry(struct delegate *delegate, void *(*section)(void *),   \
                                void *context)                                         \
    {                                                                                  \
        return prefix##_run(delegate, section, context, waits);                        \
    }                                                                                  \
    static void id##_destroy_entry(struct delegate *delegate)                          \
    {                                                                                  \
        prefix##_destroy(delegate);                                                    \
    }
#define ENTRIES(id)                                                                    \
    {.init = id##_init_entry, .run = id##_run_entry, .destroy = id##_destroy_entry}

#define EXECUTOR(id, title, prefix, waits, ...) DEFINE_ENTRIES(id, prefix, waits)
DEFINE_ENTRIES(under_lock, under_lock, SPIN)
#include "delegation/executors.def"
#undef EXECUTOR

const struct executor_descriptor executor_list[] = {
    {.about = {LISTED("lock", "", "lock", "", 0, "under a lock of the list: lock:NAME",
                      "", ""),
               .bytes = sizeof(struct delegate)},
     .operations = ENTRIES(under_lock)},
#define EXECUTOR(id, title, prefix, waits, kind, ...)                                  \
    {.about = {LISTED(title, "", kind,                                                 \
                      (waits) == SPIN ? "spin" : "spin-then-park",                     \
                      (waits) == SPIN ? 0 : PARKS, __VA_ARGS__),                       \
               .bytes = sizeof(struct delegate)},                                      \
     .operations = ENTRIES(id)},
#include "delegation/executors.def"
#undef EXECUTOR
};

enum { LENGTH = sizeof executor_list / sizeof executor_list[0] };

const unsigned executor_list_length = LENGTH;
const unsigned executor_default = LENGTH - 1; /* the last one */

bool delegate_init(struct delegate *delegate, unsigned index,
                   const struct lock_operations *lock)
{
    memset((void *)delegate, 0, sizeof *delegate);
    delegate->executor = index;
    delegate->operations = lock;
    return executor_list[index].operations.init(delegate);
}

int executor_find(const char *name, const struct lock_operations **lock)
{
    static const char prefix[] = "lock:";
    *lock = NULL;
    if (strncmp(name, prefix, sizeof prefix - 1) == 0) {
        int index = lock_find(name + sizeof prefix - 1);
        if (index <= 0)
            return -1;
        *lock = lock_operations_at((unsigned)index);
        return 0;
    }
    for (int i = 1; i < (int)LENGTH; i++)
        if (lock_is_named(&executor_list[i].about, name))
            return i;
    return -1;
}
