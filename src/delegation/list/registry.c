/* SPDX-License-Identifier: MIT */
/* Expands executors.def into the list of descriptor.h. Compiled once per platform. */
#include "delegation/list/descriptor.h"

#include "delegation/algorithms/under_lock.h"
#include "delegation/server.h"
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
               SPACE(sizeof(struct delegate), sizeof(struct call))}, \
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
    return delegate_init_at(delegate, index, lock, 0);
}

bool delegate_init_at(struct delegate *delegate, unsigned index,
                      const struct lock_operations *lock, uint32_t server)
{
    memset((void *)delegate, 0, sizeof *delegate);
    progress_init(&delegate->progress);
    delegate->executor = index;
    delegate->operations = lock;
    delegate->server_number = server;
    return executor_list[index].operations.init(delegate);
}

bool executor_has_servers(const struct lock_descriptor *about)
{
    return strcmp(about->category, "server") == 0;
}

/* Returns the index of the executor if the name is NAME:2 or the like, and stores the
 * number of the server. Returns -1 if there is no such server. */
static int find_numbered(const char *name, uint32_t *server)
{
    char word[32];
    const char *colon = strchr(name, ':');
    const size_t length = colon ? (size_t)(colon - name) : 0;
    if (!colon || length >= sizeof word || colon[1] < '0' || colon[1] > '9' || colon[2])
        return -1;
    memcpy(word, name, length);
    word[length] = 0;
    *server = (uint32_t)(colon[1] - '0');
    for (int i = 1; i < (int)LENGTH; i++) {
        const struct lock_descriptor *about = &executor_list[i].about;
        if (executor_has_servers(about) && lock_is_named(about, word))
            return *server < SERVERS_MOST ? i : -1;
    }
    return -1;
}

int executor_find(const char *name, const struct lock_operations **lock)
{
    uint32_t server;
    return executor_find_at(name, lock, &server);
}

int executor_find_at(const char *name, const struct lock_operations **lock,
                     uint32_t *server)
{
    static const char prefix[] = "lock:";
    *lock = NULL;
    *server = 0;
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
    return find_numbered(name, server);
}
