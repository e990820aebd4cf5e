/* SPDX-License-Identifier: MIT */
/*
 * hasp-bench-primitives CASE [--threads=N] [--seconds=S]: measures pthread's
 * reader-writer locks, spin locks and barriers once, and prints a JSON object.
 * `hasp bench` runs it under each algorithm, in turns. --list prints the cases.
 */
#include "bench/primitives/cases/cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double default_seconds = 0.1;

/* Returns the case with this number, in the order of --list, or NULL. */
static const struct primitive_case *case_at(unsigned index)
{
    const struct {
        const struct primitive_case *cases;
        unsigned count;
    } kinds[] = {{rwlock_cases, rwlock_case_count},
                 {spinlock_cases, spinlock_case_count},
                 {barrier_cases, barrier_case_count}};
    for (unsigned kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++) {
        if (index < kinds[kind].count)
            return &kinds[kind].cases[index];
        index -= kinds[kind].count;
    }
    return NULL;
}

static void list_cases(void)
{
    const struct primitive_case *it;
    for (unsigned i = 0; (it = case_at(i)) != NULL; i++) {
        printf("{\"case\":\"%s\",\"kind\":\"%s\",\"unit\":\"%s\",\"better\":\"%s\","
               "\"threads\":[",
               it->name, it->kind, it->unit, it->lower_is_better ? "lower" : "higher");
        for (unsigned n = 0; it->threads[n]; n++)
            printf("%s%u", n ? "," : "", it->threads[n]);
        printf("],\"think_ns\":[],\"seconds\":%g,\"floor\":false,\"lock\":true,"
               "\"summary\":\"%s\"}\n",
               default_seconds, it->summary);
    }
}

static const struct primitive_case *case_named(const char *name)
{
    const struct primitive_case *it;
    for (unsigned i = 0; (it = case_at(i)) != NULL; i++)
        if (strcmp(it->name, name) == 0)
            return it;
    fprintf(stderr, "hasp-bench-primitives: there is no case \"%s\"\n", name);
    exit(2);
}

static int misused(void)
{
    fputs("usage: hasp-bench-primitives --list | CASE [--threads=N] [--seconds=S]\n",
          stderr);
    return 2;
}

int main(int count, char **words)
{
    if (count < 2)
        return misused();
    if (strcmp(words[1], "--list") == 0) {
        list_cases();
        return 0;
    }
    const struct primitive_case *it = case_named(words[1]);
    unsigned threads = it->threads[0];
    double seconds = default_seconds;
    for (int i = 2; i < count; i++)
        if (sscanf(words[i], "--threads=%u", &threads) != 1 &&
            sscanf(words[i], "--seconds=%lf", &seconds) != 1)
            return misused();
    if (threads < 1 || threads > WORKERS_MOST || !(seconds > 0))
        return misused();
    struct measured found = it->measure(threads, seconds);
    printf("{\"schema\":\"hasp.bench/1\",\"case\":\"%s\",\"threads\":%u,"
           "\"seconds\":%g,\"unit\":\"%s\",\"value\":%.6g,\"fairness\":",
           it->name, threads, seconds, it->unit, found.value);
    printf(found.fairness < 0 ? "null" : "%.4g", found.fairness);
    puts(",\"starvation_ms\":null,\"outcome\":\"ok\",\"reason\":\"\"}");
    return 0;
}
