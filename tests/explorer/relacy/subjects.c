/* SPDX-License-Identifier: MIT */
#include "relacy/subjects.h"

#include "explorer/base/variables.h"
#include "explorer/clients/clients.h"
#include "wrong/locks.h"

#include <string.h>

#define EACH_WRONG(X)                                                                  \
    X(NONE)                                                                            \
    X(TAIL_RELAXED)                                                                    \
    X(WAIT_RELAXED)                                                                    \
    X(LINK_RELAXED)                                                                    \
    X(LAST_RELAXED)                                                                    \
    X(GRANT_RELAXED)                                                                   \
    X(GRANT_FORGOTTEN)

#define WRONG(bug)                                                                     \
    WRONG_LOCK(queue, bug)                                                             \
    static const struct lock_operations queue_##bug = {WRONG_OPERATIONS(queue, bug)};
EACH_WRONG(WRONG)

static const struct {
    const char *name;
    const struct lock_operations *operations;
} wrong[] = {
#define NAMED(bug) {"wrong-" #bug, &queue_##bug},
    EACH_WRONG(NAMED)};

static const struct client *selected;

static const struct lock_operations *operations_named(const char *name)
{
    int index = lock_find(name);
    if (index > 0)
        return lock_operations_at((unsigned)index);
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (strcmp(wrong[i].name, name) == 0)
            return wrong[i].operations;
    return NULL;
}

unsigned subject_select(const char *lock, const char *client)
{
    client_operations = operations_named(lock);
    for (unsigned i = 0; i < client_count && client_operations; i++)
        if (strcmp(clients[i].name, client) == 0) {
            selected = &clients[i];
            return selected->threads;
        }
    return 0;
}

void subject_run(unsigned thread)
{
    selected->body(thread);
}

void subject_finish(void)
{
    selected->finish();
}
