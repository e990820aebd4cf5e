/* SPDX-License-Identifier: MIT */
/* Shared by the lists of clients: which locks a client suits, and bit sets of
 * threads. */
#ifndef HASP_EXPLORER_CLIENTS_SUITABLE_H
#define HASP_EXPLORER_CLIENTS_SUITABLE_H

#include "locks/list/descriptor.h"

#define BIT(thread) (1 << (thread))

static inline bool parks(const struct lock_descriptor *lock)
{
    return lock->parks;
}

static inline bool is_numa(const struct lock_descriptor *lock)
{
    return lock->numa;
}

#endif
