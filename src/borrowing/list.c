/* SPDX-License-Identifier: MIT */
#include "borrowing/list.h"

#include "borrowing/delegate.h"
#include "locks/list/names.h"

int listed_find(const char *name)
{
    return same_name(name, DELEGATE_NAME) ? (int)elided_end() : elided_find(name);
}

struct lock_descriptor listed_at(unsigned index)
{
    if (!is_delegate(index))
        return elided_at(index);
    return (struct lock_descriptor){
        .name = DELEGATE_NAME,
        .alias = "",
        .category = "delegation",
        .waiting = "spin-then-park",
        .bypasses = true,
        .bypass_bound = UINT32_MAX,
        .parks = true,
        .trylock_hardened = true,
        .bytes = 12,
        .waiter_bytes = sizeof(struct waiter),
        .summary = "the releasing thread runs the sections of waiters",
        .source = "Gupta et al. (TCLocks), OSDI 2023; Oyama, Taura, Yonezawa, PDSIA "
                  "1999",
        .caution = "Experimental: read docs/transparent-delegation.md first.",
        .operations = delegate_operations,
    };
}
