/* SPDX-License-Identifier: MIT */
/*
 * Keeps CPUs working, pausing or idle for a given time. The caller reads the energy
 * before and after, or the platform counts it.
 */
#include <stdio.h>
#include <string.h>

#include "bench/machine/measure.h"
#include "platform/workers.h"

enum way { ACTIVE, PAUSING, PARKED, WAYS };

static const char *const way_names[WAYS] = {"active", "pausing", "parked"};

struct waiting {
    enum way way;
    uint64_t cycles;
    uint64_t milliseconds;
};

static void body(unsigned index, void *argument)
{
    const struct waiting *waiting = argument;
    uint64_t from = ticks();
    (void)index;
    if (waiting->way == PARKED) {
        struct atomic_u32 nobody = {0};
        uint64_t end_ns = now_ns() + waiting->milliseconds * 1000000;
        struct deadline deadline = {
            .clock = CLOCK_MONOTONIC,
            .at = {(time_t)(end_ns / 1000000000), (long)(end_ns % 1000000000)},
        };
        while (park(&nobody, 0, &deadline))
            ;
        return;
    }
    while (ticks() - from < waiting->cycles) {
        if (waiting->way == PAUSING)
            relax();
    }
}

static enum way way_named(const char *name)
{
    for (enum way way = ACTIVE; name && way < WAYS; way++) {
        if (strcmp(name, way_names[way]) == 0)
            return way;
    }
    refuse("wait needs --cases active, pausing or parked");
}

bool measure_wait(const struct request *request)
{
    struct platform_counts before, after;
    struct waiting waiting = {
        .way = way_named(request->cases),
        .cycles = cycles_per_second() / 1000 * request->milliseconds,
        .milliseconds = request->milliseconds,
    };
    uint64_t from_ns = now_ns();
    platform_counts_now(&before);
    run_on(request, request->cpu_count, body, &waiting);
    platform_counts_now(&after);
    printf("{\"measure\":\"wait\",\"way\":\"%s\",\"cpus\":%u,\"ns\":%llu",
           way_names[waiting.way], request->cpu_count,
           (unsigned long long)(now_ns() - from_ns));
    if (after.known)
        printf(",\"energy_pj\":%llu}\n",
               (unsigned long long)(after.energy_pj - before.energy_pj));
    else
        printf(",\"energy_pj\":null}\n");
    return true;
}
