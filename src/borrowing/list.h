/* SPDX-License-Identifier: MIT */
/* The lock `delegate` in the list of mutexes' locks: it follows the elided ones. */
#ifndef HASP_BORROWING_LIST_H
#define HASP_BORROWING_LIST_H

#include "elision/list.h"

static inline bool is_delegate(unsigned index)
{
    return index == elided_end();
}

/* Indexes below this are of locks of the list, elided ones, or `delegate`. */
static inline unsigned listed_end(void)
{
    return elided_end() + 1;
}

/* As elided_find() and elided_at(), also for `delegate`. */
int listed_find(const char *name);
struct lock_descriptor listed_at(unsigned index);

#endif
