/* SPDX-License-Identifier: MIT */
/* hasp-bench-messages: sends messages between two CPUs in one pattern by one
 * implementation, in many short bursts, and prints their median as a line of JSON. A
 * burst is so short that few are disturbed by other threads of the machine. `hasp bench
 * messages` is the front end. */
#include "bench/messages/messages.h"

#include "platform/workers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const patterns[PATTERNS] = {"round-trip", "one-way", "batch",
                                               "large"};
enum { BURSTS = 101 };

struct bench {
    const struct implementation *implementation;
    enum pattern pattern;
    struct pair pair;
    uint64_t ns[BURSTS];
    struct meeting meeting;
};

static void work(unsigned index, void *argument)
{
    struct bench *bench = argument;
    const struct transport *t = bench->implementation->transport;
    if (t->open) {
        t->open(bench->pair.memory[0], index == 0);
        t->open(bench->pair.memory[1], index == 1);
    }
    struct pair own = bench->pair;
    bool last = bench->pattern == ROUND_TRIP ? index == 0 : index == 1;
    for (int burst = 0; burst < BURSTS; burst++) {
        arrive_together(&bench->meeting, 2);
        uint64_t start = now_ns();
        bench->implementation->run(&own, bench->pattern, index == 1);
        if (last)
            bench->ns[burst] = now_ns() - start;
    }
    if (own.wrong)
        die("a message arrived with wrong contents");
}

static int by_size(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static int usage(void)
{
    fputs("usage: hasp-bench-messages IMPLEMENTATION PATTERN MESSAGES CPU CPU\n"
          "       hasp-bench-messages --list\n",
          stderr);
    return 2;
}

static bool find(struct bench *bench, const char *implementation, const char *pattern)
{
    for (unsigned i = 0; i < implementation_count; i++)
        if (strcmp(implementations[i].name, implementation) == 0)
            bench->implementation = &implementations[i];
    for (int i = 0; i < PATTERNS; i++)
        if (strcmp(patterns[i], pattern) == 0) {
            bench->pattern = (enum pattern)i;
            return bench->implementation &&
                   can_run(bench->implementation->transport, bench->pattern);
        }
    return false;
}

/* Prints each implementation, and the patterns that it can run. */
static void list(void)
{
    for (unsigned i = 0; i < implementation_count; i++) {
        fputs(implementations[i].name, stdout);
        for (int pattern = 0; pattern < PATTERNS; pattern++)
            if (can_run(implementations[i].transport, (enum pattern)pattern))
                printf(" %s", patterns[pattern]);
        puts("");
    }
}

int main(int count, char **words)
{
    static struct bench bench;
    if (count == 2 && strcmp(words[1], "--list") == 0) {
        list();
        return 0;
    }
    if (count != 6 || !find(&bench, words[1], words[2]))
        return usage();
    bench.pair.messages = strtoull(words[3], NULL, 10) / BATCH * BATCH;
    if (!bench.pair.messages)
        return usage();
    for (int i = 0; i < 2; i++) {
        bench.pair.memory[i] = shared_pages(bench.implementation->transport->bytes, -1);
        if (!bench.pair.memory[i])
            die("no memory");
        bench.implementation->transport->prepare(bench.pair.memory[i]);
    }
    const int cpus[2] = {atoi(words[4]), atoi(words[5])};
    if (!run_workers(2, cpus, work, &bench)) {
        fprintf(stderr, "hasp-bench-messages: %s\n", workers_error());
        return 1;
    }
    qsort(bench.ns, BURSTS, sizeof bench.ns[0], by_size);
    printf(
        "{\"schema\":\"hasp.messages/1\",\"implementation\":\"%s\",\"pattern\":\"%s\","
        "\"messages\":%" PRIu64 ",\"ns\":%.3f}\n",
        words[1], words[2], bench.pair.messages,
        (double)bench.ns[BURSTS / 2] / (double)bench.pair.messages);
    return 0;
}
