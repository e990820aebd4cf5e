/* SPDX-License-Identifier: MIT */
/* The fields of an entry, as the lists (locks.def) write them. */
#ifndef HASP_LOCKS_LIST_PROPERTIES_H
#define HASP_LOCKS_LIST_PROPERTIES_H

#include <stdint.h>

enum {
    FIFO = 1,
    BYPASSES = 2,
    PARKS = 4,
    NUMA = 8,
    LIGHT = 16,
    TRYLOCK_HARDENED = 32,
    BYPASS_EACH = 64,
    BOUND_SHIFT = 8,
};
#define BYPASS_AT_MOST(n) ((n) << BOUND_SHIFT)
#define BYPASS_BY_EACH(n) (BYPASS_EACH | BYPASS_AT_MOST(n))
#define BYPASS_BOUND(properties)                                                       \
    ((properties)&BYPASSES ? UINT32_MAX : (uint32_t)(properties) >> BOUND_SHIFT)

/* Fields of a struct lock_descriptor. */
#define LISTED_PROPERTIES(properties)                                                  \
    .fifo = ((properties)&FIFO) != 0, .bypasses = BYPASS_BOUND(properties) != 0,       \
    .bypass_bound = BYPASS_BOUND(properties),                                          \
    .bypass_each = ((properties)&BYPASS_EACH) != 0,                                    \
    .parks = ((properties)&PARKS) != 0, .numa = ((properties)&NUMA) != 0,              \
    .light = ((properties)&LIGHT) != 0,                                                \
    .trylock_hardened = ((properties)&TRYLOCK_HARDENED) != 0

#define LISTED(title, other_title, group, how, properties, words, paper, warning)      \
    .name = title, .alias = other_title, .category = group, .waiting = how,            \
    LISTED_PROPERTIES(properties), .summary = words, .source = paper,                  \
    .caution = warning

#define SPACE(in_place, each_waiter) .bytes = in_place, .waiter_bytes = each_waiter
#define SPACE_OUTSIDE(in_place, each_waiter, outside, each_node)                       \
    SPACE(in_place, each_waiter), .outside_bytes = outside, .node_bytes = each_node

#endif
