/* SPDX-License-Identifier: MIT */
/*
 * Phases of workers that do nothing but wait at a barrier, on a simulated machine. For
 * each algorithm of the list, and for glibc's in its published form, prints a JSON
 * object (schema hasp.barriers/1).
 *
 *   hasp-simulate-barriers MACHINE_FILE THREADS [PHASES [WORK_CYCLES]]
 */
#include "barriers/list/descriptor.h"
#include "bench/published/glibc_barrier.h"
#include "platform/workers.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_THREADS = 512, WARM_UP = 5 };

struct trial {
    struct barrier barrier __attribute__((aligned(CACHE_LINE)));
    struct glibc_barrier glibc __attribute__((aligned(CACHE_LINE)));
    struct meeting meeting __attribute__((aligned(CACHE_LINE)));
    struct atomic_u32 serial __attribute__((aligned(CACHE_LINE)));
    unsigned algorithm, threads, phases;
    uint64_t work, begun, ended;
};

static bool wait(struct trial *trial)
{
    return trial->algorithm == 0
               ? glibc_barrier_wait(&trial->glibc)
               : barrier_list[trial->algorithm].operations.wait(&trial->barrier);
}

static void body(unsigned index, void *argument)
{
    struct trial *trial = argument;
    unsigned serial = 0;
    arrive_together(&trial->meeting, trial->threads);
    for (unsigned phase = 0; phase < WARM_UP; phase++)
        wait(trial);
    if (index == 0)
        trial->begun = cycles_ordered();
    for (unsigned phase = 0; phase < trial->phases; phase++) {
        if (trial->work)
            pause_cycles(trial->work +
                         (index * 37 + phase * 11) % (trial->work / 8 + 1));
        serial += wait(trial);
    }
    if (index == 0)
        trial->ended = cycles_ordered();
    fetch_add_relaxed(&trial->serial, serial);
}

static bool measure(unsigned algorithm, unsigned threads, unsigned phases,
                    uint64_t work)
{
    struct trial *trial = shared_pages(sizeof *trial, -1);
    int cpus[MOST_THREADS];
    if (!trial)
        return false;
    *trial = (struct trial){.algorithm = algorithm, .threads = threads,
                            .phases = phases, .work = work};
    trial->glibc.count = threads;
    if (algorithm)
        barrier_init(&trial->barrier, algorithm, threads);
    for (unsigned i = 0; i < threads; i++)
        cpus[i] = (int)(i % cpu_count());
    if (!run_workers(threads, cpus, body, trial)) {
        fprintf(stderr, "hasp-simulate-barriers: %s\n", workers_error());
        return false;
    }
    double ns = (double)(trial->ended - trial->begun) * 1e9 /
                (double)cycles_per_second() / phases;
    printf("{\"schema\":\"hasp.barriers/1\",\"machine\":\"%s\",\"simulated\":true,"
           "\"barrier\":\"%s\",\"threads\":%u,\"phases\":%u,\"work_cycles\":%llu,"
           "\"phase_ns\":%.1f}\n",
           machine_name(), barrier_list[algorithm].about.name, threads, phases,
           (unsigned long long)work, ns);
    if (load_relaxed(&trial->serial) != phases)
        fprintf(stderr, "hasp-simulate-barriers: %s has %u serial threads in %u "
                        "phases\n",
                barrier_list[algorithm].about.name, load_relaxed(&trial->serial),
                phases);
    return load_relaxed(&trial->serial) == phases;
}

int main(int count, char **words)
{
    unsigned threads = count > 2 ? (unsigned)atoi(words[2]) : 0;
    unsigned phases = count > 3 ? (unsigned)atoi(words[3]) : 50;
    uint64_t work = count > 4 ? (uint64_t)atoll(words[4]) : 0;
    if (threads < 1 || threads > MOST_THREADS || phases < 1) {
        fputs("usage: hasp-simulate-barriers MACHINE_FILE THREADS [PHASES "
              "[WORK_CYCLES]]\n",
              stderr);
        return 2;
    }
    if (!use_machine(words[1])) {
        fprintf(stderr, "hasp-simulate-barriers: %s\n", workers_error());
        return 2;
    }
    for (unsigned i = 0; i < barrier_list_length; i++)
        if (!measure(i, threads, phases, work))
            return 1;
    return 0;
}
