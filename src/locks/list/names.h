/* SPDX-License-Identifier: MIT */
/* Comparison of algorithms' names: case and the difference of '-' and '_' do not
 * matter. */
#ifndef HASP_LOCKS_LIST_NAMES_H
#define HASP_LOCKS_LIST_NAMES_H

#include "locks/list/descriptor.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>

static inline bool same_letter(char a, char b)
{
    a = a == '_' ? '-' : (char)tolower((unsigned char)a);
    b = b == '_' ? '-' : (char)tolower((unsigned char)b);
    return a == b;
}

/* Returns the rest of `name` after the prefix `start`, or NULL if `name` does not begin
 * with it. */
static inline const char *without_prefix(const char *start, const char *name)
{
    while (*start && same_letter(*start, *name))
        start++, name++;
    return *start ? NULL : name;
}

static inline bool same_name(const char *a, const char *b)
{
    const char *end = without_prefix(a, b);
    return end && !*end;
}

/* Returns whether this is the name or the alias of the list entry. */
static inline bool lock_is_named(const struct lock_descriptor *entry, const char *name)
{
    return same_name(entry->name, name) ||
           (entry->alias[0] && same_name(entry->alias, name));
}

#endif
