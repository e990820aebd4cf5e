/* SPDX-License-Identifier: MIT */
#include "explorer/arguments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool number(const char *text, double *value)
{
    char *end;
    errno = 0;
    *value = strtod(text, &end);
    return !errno && end != text && !*end && *value >= 0;
}

bool arguments_parse(struct arguments *into, int count, char **words)
{
    for (int i = 1; i < count; i++) {
        const char *word = words[i], *value = i + 1 < count ? words[i + 1] : NULL;
        double amount;
        if (strcmp(word, "--quiet") == 0) {
            into->quiet = true;
            continue;
        }
        if (strcmp(word, "--list") == 0) { /* what would be checked */
            into->list = true;
            continue;
        }
        if (!value)
            return false;
        i++;
        if (strcmp(word, "--kind") == 0)
            into->kind = value;
        else if (strcmp(word, "--lock") == 0)
            into->lock = strcmp(value, "all") == 0 ? NULL : value;
        else if (strcmp(word, "--client") == 0)
            into->client = value;
        else if (strcmp(word, "--preemptions") == 0 && strcmp(value, "all") == 0)
            into->limits.preemptions = UNBOUNDED;
        else if (!number(value, &amount))
            return false;
        else if (strcmp(word, "--preemptions") == 0)
            into->limits.preemptions =
                amount < UNBOUNDED ? (unsigned)amount : UNBOUNDED;
        else if (strcmp(word, "--time-limit") == 0)
            into->limits.seconds = amount;
        else if (strcmp(word, "--states") == 0)
            into->limits.states = (uint64_t)amount;
        else
            return false;
    }
    return true;
}
