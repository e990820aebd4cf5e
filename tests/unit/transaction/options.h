/* SPDX-License-Identifier: MIT */
/* The way in which transactions detect conflicts, as a word: empty, the lock of the
 * transaction that runs alone, or "MANAGER=SERVERS" over messages, with an "e" at its
 * end if a store asks for its stripe at once. */
#ifndef HASP_TESTS_UNIT_TRANSACTION_OPTIONS_H
#define HASP_TESTS_UNIT_TRANSACTION_OPTIONS_H

#include "hasp/transaction.h"

#include <stdlib.h>
#include <string.h>

static inline void set_way(struct hasp_tm_options *options, const char *way)
{
    static char manager[16];
    const char *equals = way ? strchr(way, '=') : NULL;
    if (equals) {
        snprintf(manager, sizeof manager, "%.*s", (int)(equals - way), way);
        options->manager = manager;
        options->servers = (uint32_t)atoi(equals + 1);
        options->eager = strchr(equals, 'e') != NULL;
    } else if (way && *way) {
        options->lock_name = way;
    }
}

#endif
