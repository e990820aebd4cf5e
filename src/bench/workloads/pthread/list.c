/* SPDX-License-Identifier: MIT */
/* Stands in for the lock list (locks/list/descriptor.h): there is pthread's mutex,
 * whoever provides it, and its calls need no operations. */
#include "excluding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void excluding_must(int status, const char *what)
{
    if (likely(status == 0))
        return;
    fprintf(stderr, "hasp-shapes: %s failed: %s\n", what, strerror(status));
    exit(EXIT_FAILURE);
}

int lock_find(const char *name)
{
    return strcmp(name, DEFAULT_LOCK) == 0 ? 1 : -1;
}

const struct lock_operations *lock_operations_at(unsigned index)
{
    (void)index;
    return NULL;
}

struct lock_descriptor lock_at(unsigned index)
{
    (void)index;
    return (struct lock_descriptor){.name = DEFAULT_LOCK};
}
