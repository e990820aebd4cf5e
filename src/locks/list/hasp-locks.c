/* SPDX-License-Identifier: MIT */
/* Prints the lock list, one JSON object per line (schema 1; see descriptor.h), or with
 * --wrapped the wrapped locks. A bypass_bound of -1 means unbounded. */
#include "locks/list/descriptor.h"

#include <stdio.h>
#include <string.h>

static const char *truth(bool value)
{
    return value ? "true" : "false";
}

/* The strings in locks.def are plain ASCII without quotes or backslashes. */
static void print_lock(unsigned i)
{
    const struct lock_descriptor found = lock_at(i), *lock = &found;
    const char *quote = lock->alias[0] ? "\"" : "";
    printf("{\"schema\":1,\"name\":\"%s\",\"index\":%u,\"default\":%s,\"aliases\":["
           "%s%s%s],"
           "\"category\":\"%s\",\"waiting\":\"%s\",\"fifo\":%s,\"bypasses\":%s,"
           "\"parks\":%s,\"numa\":%s,\"light\":%s,\"trylock_hardened\":%s,"
           "\"bypass_bound\":%lld,\"bypass_each\":%s,"
           "\"bytes\":%u,\"waiter_bytes\":%u,"
           "\"outside_bytes\":%u,\"node_bytes\":%u,"
           "\"summary\":\"%s\",\"source\":\"%s\","
           "\"caution\":\"%s\"}\n",
           lock->name, i, truth(i == lock_default), quote, lock->alias, quote,
           lock->category, lock->waiting, truth(lock->fifo), truth(lock->bypasses),
           truth(lock->parks), truth(lock->numa), truth(lock->light),
           truth(lock->trylock_hardened),
           lock->bypass_bound == UINT32_MAX ? -1 : (long long)lock->bypass_bound,
           truth(lock->bypass_each), lock->bytes, lock->waiter_bytes,
           lock->outside_bytes, lock->node_bytes, lock->summary, lock->source,
           lock->caution);
}

int main(int count, char **words)
{
    bool wrapped = count > 1 && strcmp(words[1], "--wrapped") == 0;
    unsigned end = wrapped ? lock_count : lock_list_length;
    for (unsigned i = wrapped ? lock_list_length : 0; i < end; i++)
        print_lock(i);
    return fflush(stdout) == 0 ? 0 : 1;
}
