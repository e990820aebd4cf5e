/* SPDX-License-Identifier: MIT */
/* Shared by the programs that seed bugs: they run a client with a wrong lock, and
 * compare the explorer's verdict with the expected one. */
#ifndef HASP_TESTS_EXPLORER_WRONG_JUDGE_H
#define HASP_TESTS_EXPLORER_WRONG_JUDGE_H

#include "explorer/search/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the client with this name, or NULL. */
static inline const struct client *client_called(const char *name,
                                                 const struct client *list,
                                                 unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0)
            return &list[i];
    return NULL;
}

/* Time limits in seconds. A bug is found within a tenth of a second; to find none takes
 * the whole time. */
enum { FINDS_SECONDS = 20, BRIEF_SECONDS = 1 };
static double right_seconds = BRIEF_SECONDS;

/* Returns whether the search ends with this verdict; "" is any finding. */
static inline bool is_judged(const char *name, const struct client *client,
                             const char *verdict)
{
    bool is_right = strcmp(verdict, "ok") == 0;
    const struct limits limits = {.preemptions = 3,
                                  .seconds = is_right ? right_seconds : FINDS_SECONDS,
                                  .states = 10000000};
    struct outcome outcome = search(client, &limits);
    bool found = strcmp(outcome.verdict, "ok") != 0;
    bool right = verdict[0] ? strcmp(outcome.verdict, verdict) == 0 : found;
    printf("%s  %-30s %-14s %s%s%s (%.1f s)\n", right ? "right" : "WRONG", name,
           client->name, outcome.verdict, found ? ": " : "", outcome.detail,
           outcome.seconds);
    return right;
}

/* Judges all cases, and searches what is right for as long as the first word says.
 * Returns the exit status of the program. */
static inline int judge_all(bool (*is_right)(unsigned index), unsigned count,
                            char **words)
{
    if (words[1])
        right_seconds = atof(words[1]);
    unsigned wrong = 0;
    for (unsigned i = 0; i < count; i++)
        wrong += !is_right(i);
    printf("%u of %u verdicts are wrong\n", wrong, count);
    return wrong != 0;
}

#endif
