/* SPDX-License-Identifier: MIT */
#include "rwlocks/algorithms/inner_mutex.h"

const struct lock_operations *inner_mutex_operations(unsigned index)
{
    if (index == lock_default)
        return &futex_unbiased_operations;
    if (index == inner_mutex_index("auto"))
        return &auto_unbiased_operations;
    return lock_operations_at(index);
}

unsigned inner_mutex_index(const char *name)
{
    int index = lock_find(name);
    if (index <= 0)
        die("a reader-writer lock is made of a lock that is not in the list");
    return (unsigned)index;
}
