/* SPDX-License-Identifier: MIT */
#include "library/delegate.h"

#include "delegation/list/descriptor.h"

#include <errno.h>

int delegate_prepare(struct delegate *delegate, const char *name)
{
    const struct lock_operations *lock = NULL;
    uint32_t server = 0;
    int index = name ? executor_find_at(name, &lock, &server) : (int)executor_default;
    if (index < 0)
        return EINVAL;
    return delegate_init_at(delegate, (unsigned)index, lock, server) ? 0 : ENOMEM;
}

void *delegate_call(struct delegate *delegate, void *(*section)(void *), void *context)
{
    return executor_operations_of(delegate)->run(delegate, section, context);
}

void delegate_give_up(struct delegate *delegate)
{
    executor_operations_of(delegate)->destroy(delegate);
}

const char *delegate_listed_name(unsigned index)
{
    return index + 1 < executor_list_length ? executor_list[index + 1].about.name
                                            : NULL;
}
