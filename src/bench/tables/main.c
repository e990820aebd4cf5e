/* SPDX-License-Identifier: MIT */
/* hasp-bench-tables: runs one load on one hash table, and prints a JSON line. */
#include "bench/tables/subject.h"

#include "platform/workers.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_USAGE = 2, THREADS_MOST = 64, NS_PER_MS = 1000000 };

struct run {
    const struct subject *subject;
    const char *lock;
    uint64_t elements, threads, milliseconds, updates; /* updates: percent */
    double zipf;                                       /* exponent; 0: uniform */
    void *table;
    uint64_t quantiles[QUANTILES];
    struct load loads[THREADS_MOST];
    bool stop;
    uint64_t elapsed_ns;
    struct meeting meeting;
};

static struct subject *subjects;
static struct run run = {.elements = 1024, .threads = 2, .milliseconds = 100};

void subject_add(struct subject *subject)
{
    subject->next = subjects;
    subjects = subject;
}

/* Spreads the keys over all words. */
static uint64_t key_of(uint64_t number)
{
    uint64_t state = number;
    return load_random(&state);
}

/* Draws the keys from twice as many as there are entries, so that insertions and
 * removals succeed equally often. For Zipf's law, inverts a continuous approximation of
 * its distribution. */
static void set_quantiles(void)
{
    double range = 2.0 * (double)run.elements, power = 1 - run.zipf;
    for (unsigned i = 0; i < QUANTILES; i++) {
        double at = (i + 0.5) / QUANTILES;
        double key = run.zipf > 0
                         ? pow(at * (pow(range + 1, power) - 1) + 1, 1 / power) - 1
                         : at * range;
        run.quantiles[i] = (uint64_t)key;
    }
    /* Without a table of quantiles as large as the range, most keys would be idle. */
    uint64_t random = 1;
    for (unsigned i = 0; run.zipf <= 0 && i < QUANTILES; i++)
        run.quantiles[i] = load_random(&random) % (2 * run.elements);
    for (unsigned i = 0; i < QUANTILES; i++)
        run.quantiles[i] = key_of(run.quantiles[i]);
}

static void work(unsigned index, void *argument)
{
    struct load *load = &run.loads[index];
    (void)argument;
    if (index == run.threads) {
        arrive_together(&run.meeting, (uint32_t)run.threads + 1);
        uint64_t start = now_ns(), end = start + run.milliseconds * NS_PER_MS;
        struct atomic_u32 never = {0};
        struct deadline deadline = {
            CLOCK_MONOTONIC, {(time_t)(end / 1000000000u), (long)(end % 1000000000u)}};
        while (now_ns() < end)
            park(&never, 0, &deadline);
        __atomic_store_n(&run.stop, true, __ATOMIC_RELAXED);
        run.elapsed_ns = now_ns() - start;
        return;
    }
    arrive_together(&run.meeting, (uint32_t)run.threads + 1);
    run.subject->work(load);
}

static void print(void)
{
    uint64_t all = 0, least = UINT64_MAX, inserted = 0, removed = 0;
    for (uint64_t i = 0; i < run.threads; i++) {
        const struct load *load = &run.loads[i];
        all += load->operations;
        least = load->operations < least ? load->operations : least;
        inserted += load->inserted;
        removed += load->removed;
    }
    printf("{\"schema\":\"hasp.table/1\",\"subject\":\"%s\",\"lock\":\"%s\","
           "\"threads\":%llu,\"elements\":%llu,\"updates\":%llu,\"zipf\":%.2f,"
           "\"mops\":%.3f,\"least_share\":%.3f,\"inserted\":%llu,\"removed\":%llu}\n",
           run.subject->name, run.lock ? run.lock : "", (unsigned long long)run.threads,
           (unsigned long long)run.elements, (unsigned long long)run.updates, run.zipf,
           (double)all * 1e3 / (double)run.elapsed_ns,
           all ? (double)least * (double)run.threads / (double)all : 0,
           (unsigned long long)inserted, (unsigned long long)removed);
}

static int usage(void)
{
    fputs("usage: hasp-bench-tables --subject NAME [--lock NAME] [--threads N]\n"
          "           [--elements N] [--updates PERCENT] [--zipf EXPONENT]\n"
          "           [--milliseconds N] | --list\n",
          stderr);
    return EXIT_USAGE;
}

static int list(void)
{
    for (const struct subject *subject = subjects; subject; subject = subject->next)
        puts(subject->name);
    return 0;
}

static int measure(void)
{
    int cpus[THREADS_MOST + 1];
    run.table = run.subject->create(run.elements, run.lock);
    if (!run.table) {
        fputs("hasp-bench-tables: this table cannot be made with these options\n",
              stderr);
        return EXIT_USAGE;
    }
    set_quantiles();
    for (uint64_t i = 0; i < run.elements; i++)
        run.subject->put(run.table, key_of(2 * i), 2 * i + 1);
    for (unsigned i = 0; i <= run.threads; i++) {
        cpus[i] = i < run.threads && run.threads <= cpu_count() ? (int)i : -1;
        if (i < run.threads)
            run.loads[i] =
                (struct load){.table = run.table,
                              .stop = &run.stop,
                              .quantiles = run.quantiles,
                              .updates = (uint32_t)(run.updates * DICE / 100),
                              .random = 12345 + 7919 * i};
    }
    if (!run_workers((unsigned)run.threads + 1, cpus, work, NULL)) {
        fprintf(stderr, "hasp-bench-tables: %s\n", workers_error());
        return EXIT_USAGE;
    }
    print();
    return 0;
}

int main(int count, char **words)
{
    static const struct option options[] = {{"subject", 1, NULL, 's'},
                                            {"lock", 1, NULL, 'l'},
                                            {"threads", 1, NULL, 't'},
                                            {"elements", 1, NULL, 'e'},
                                            {"updates", 1, NULL, 'u'},
                                            {"zipf", 1, NULL, 'z'},
                                            {"milliseconds", 1, NULL, 'm'},
                                            {"list", 0, NULL, 'L'},
                                            {NULL, 0, NULL, 0}};
    int option;
    while ((option = getopt_long(count, words, "", options, NULL)) != -1) {
        uint64_t number = optarg ? strtoull(optarg, NULL, 10) : 0;
        switch (option) {
        case 's':
            run.subject = subjects;
            while (run.subject && strcmp(run.subject->name, optarg) != 0)
                run.subject = run.subject->next;
            break;
        case 'l':
            run.lock = optarg;
            break;
        case 't':
            run.threads = number;
            break;
        case 'e':
            run.elements = number;
            break;
        case 'u':
            run.updates = number;
            break;
        case 'z':
            run.zipf = strtod(optarg, NULL);
            break;
        case 'm':
            run.milliseconds = number;
            break;
        case 'L':
            return list();
        default:
            return usage();
        }
    }
    bool good = run.subject && run.threads && run.threads < THREADS_MOST &&
                run.elements && run.updates <= 100 && run.milliseconds;
    return good ? measure() : usage();
}
