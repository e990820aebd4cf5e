/* SPDX-License-Identifier: MIT */
#include "library/barrier.h"

#include "barriers/list/descriptor.h"

#include <errno.h>
#include <limits.h>

static const struct barrier_operations *operations_of(const struct barrier *barrier)
{
    return &barrier_list[barrier->kind & BARRIER_INDEX].operations;
}

int barrier_prepare(struct barrier *barrier, const char *name, unsigned count)
{
    int index = name ? barrier_find(name) : (int)barrier_default;
    if (index <= 0 || count == 0 || count > INT_MAX)
        return EINVAL;
    barrier_init(barrier, (unsigned)index, count);
    return 0;
}

bool barrier_meet(struct barrier *barrier)
{
    return operations_of(barrier)->wait(barrier);
}

int barrier_give_up(struct barrier *barrier)
{
    barrier_destroy(barrier);
    return 0;
}
