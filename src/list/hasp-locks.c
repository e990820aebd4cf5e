/* SPDX-License-Identifier: MIT */
/* Prints the lists of all kinds, one JSON object per line (schema 1; see
 * locks/list/descriptor.h), or with --wrapped the wrapped locks. A bypass_bound of -1
 * means unbounded. With --transactions, prints what the processor offers to elide
 * locks, and with --borrowing what keeps sections from being borrowed. */
#include "barriers/list/descriptor.h"
#include "borrowing/list.h"
#include "delegation/list/descriptor.h"
#include "elision/backend.h"
#include "elision/rwlock_list.h"
#include "platform/native/registers.h"
#include "rwlocks/list/descriptor.h"
#include "spinlocks/list/descriptor.h"

#include <stdio.h>
#include <string.h>

static const char *truth(bool value)
{
    return value ? "true" : "false";
}

/* The strings in the lists are plain ASCII without quotes or backslashes. */
static void print_entry(const char *kind, unsigned index, bool is_default,
                        const struct lock_descriptor *entry)
{
    const char *quote = entry->alias[0] ? "\"" : "";
    printf("{\"schema\":1,\"kind\":\"%s\",\"name\":\"%s\",\"index\":%u,\"default\":%s,"
           "\"aliases\":[%s%s%s],"
           "\"category\":\"%s\",\"waiting\":\"%s\",\"fifo\":%s,\"bypasses\":%s,"
           "\"parks\":%s,\"numa\":%s,\"light\":%s,\"trylock_hardened\":%s,"
           "\"bypass_bound\":%lld,\"bypass_each\":%s,"
           "\"bytes\":%u,\"waiter_bytes\":%u,"
           "\"outside_bytes\":%u,\"node_bytes\":%u,"
           "\"summary\":\"%s\",\"source\":\"%s\","
           "\"caution\":\"%s\"}\n",
           kind, entry->name, index, truth(is_default), quote, entry->alias, quote,
           entry->category, entry->waiting, truth(entry->fifo), truth(entry->bypasses),
           truth(entry->parks), truth(entry->numa), truth(entry->light),
           truth(entry->trylock_hardened),
           entry->bypass_bound == UINT32_MAX ? -1 : (long long)entry->bypass_bound,
           truth(entry->bypass_each), entry->bytes, entry->waiter_bytes,
           entry->outside_bytes, entry->node_bytes, entry->summary, entry->source,
           entry->caution);
}

static void print_mutexes(unsigned begin, unsigned end)
{
    for (unsigned i = begin; i < end; i++) {
        const struct lock_descriptor lock = listed_at(i);
        print_entry("mutex", i, i == lock_default, &lock);
    }
}

static void print_rwlocks(unsigned begin, unsigned end)
{
    for (unsigned i = begin; i < end; i++) {
        const struct rwlock_descriptor lock = elided_rwlock_at(i);
        print_entry("rwlock", i, i == rwlock_default, &lock.about);
    }
}

static void print_spinlocks(void)
{
    for (unsigned i = 0; i < spinlock_list_length; i++)
        print_entry("spinlock", i, i == spinlock_default, &spinlock_list[i].about);
}

static void print_barriers(void)
{
    for (unsigned i = 0; i < barrier_list_length; i++)
        print_entry("barrier", i, i == barrier_default, &barrier_list[i].about);
}

/* The first entry stands for calls under a lock. */
static void print_executors(void)
{
    for (unsigned i = 1; i < executor_list_length; i++)
        print_entry("executor", i, i == executor_default, &executor_list[i].about);
}

/* Prints what the processor offers, in the words of python/hasp/doctor/htm.py. */
static void print_transactions(void)
{
    static const char *const hardware[] = {
        [ELISION_NO_RTM] = "absent",
        [ELISION_RTM_DISABLED] = "disabled",
        [ELISION_RTM_FAILS] = "fails",
        [ELISION_RTM_WORKS] = "works",
    };
    const struct elision_probe probe = elision_probe();
    printf("{\"schema\":1,\"hardware\":\"%s\",\"probes\":%u,\"commits\":%u,"
           "\"last_abort\":%u,\"text\":\"%s\"}\n",
           hardware[probe.hardware],
           probe.hardware < ELISION_RTM_FAILS ? 0u : (unsigned)ELISION_PROBES,
           probe.commits, probe.last_abort, elision_hardware_text(probe.hardware));
}

/* Prints why sections of other threads cannot be run on this host, or "". */
static void print_borrowing(void)
{
    const char *obstacle = registers_obstacle();
    printf("{\"schema\":1,\"obstacle\":\"%s\"}\n", obstacle ? obstacle : "");
}

int main(int count, char **words)
{
    if (count > 1 && strcmp(words[1], "--transactions") == 0) {
        print_transactions();
    } else if (count > 1 && strcmp(words[1], "--borrowing") == 0) {
        print_borrowing();
    } else if (count > 1 && strcmp(words[1], "--wrapped") == 0) {
        print_mutexes(lock_list_length, listed_end());
        print_rwlocks(rwlock_list_length, elided_rwlock_end());
    } else {
        print_mutexes(0, lock_list_length);
        print_rwlocks(0, rwlock_list_length);
        print_spinlocks();
        print_barriers();
        print_executors();
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
