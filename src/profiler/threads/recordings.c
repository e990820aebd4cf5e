/* SPDX-License-Identifier: MIT */
#include "profiler/threads/recordings.h"

/* The first acquisition of each thread takes the slower path of the hook. */
__thread struct record_here record_here = {.careful = 1};

static struct atomic_u64 first; /* struct recording */

struct recording *recordings_first(void)
{
    /* Pairs with the exchange of recordings_add(). */
    return (struct recording *)(uintptr_t)load_acquire(&first);
}

void recordings_add(struct recording *me)
{
    uint64_t old = load_relaxed(&first);
    do
        me->next = (struct recording *)(uintptr_t)old;
    while (!compare_exchange_release(&first, &old, (uintptr_t)me));
}

void recordings_forget(void)
{
    store_relaxed(&first, 0);
}
