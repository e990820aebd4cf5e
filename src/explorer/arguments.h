/* SPDX-License-Identifier: MIT */
/* The command line of hasp-explore. */
#ifndef HASP_EXPLORER_ARGUMENTS_H
#define HASP_EXPLORER_ARGUMENTS_H

#include "explorer/search/search.h"

struct arguments {
    const char *kind, *lock, *client;
    bool quiet, list;
    struct limits limits;
};

/* Changes what the words name. Returns false if they are wrong. */
bool arguments_parse(struct arguments *into, int count, char **words);

#endif
