/* SPDX-License-Identifier: MIT */
/* The way in which the writers of a map exclude each other, as a word: empty, the name
 * of a lock, "servers=N", or "all-by=N" if the servers also read. */
#ifndef HASP_TESTS_UNIT_MAP_OPTIONS_H
#define HASP_TESTS_UNIT_MAP_OPTIONS_H

#include "hasp/map.h"

#include <stdlib.h>
#include <string.h>

static inline void set_way(struct hasp_map_options *options, const char *way)
{
    static const char servers[] = "servers=", all[] = "all-by=";
    if (way && strncmp(way, servers, sizeof servers - 1) == 0) {
        options->servers = (uint32_t)atoi(way + sizeof servers - 1);
    } else if (way && strncmp(way, all, sizeof all - 1) == 0) {
        options->servers = (uint32_t)atoi(way + sizeof all - 1);
        options->serve_reads = true;
    } else {
        options->lock_name = way && *way ? way : NULL;
    }
}

#endif
