/* SPDX-License-Identifier: MIT */
/* hasp-bench-tables: runs one load on one hash table, and prints a JSON line. */
#include "bench/tables/subject.h"

#include "bench/burst.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_USAGE = 2 };

struct run {
    const struct subject *subject;
    const char *lock;
    uint64_t elements, updates; /* updates: percent */
    double zipf;                /* exponent; 0: uniform */
    void *table;
    uint64_t quantiles[QUANTILES];
    struct load loads[BURST_THREADS];
    struct burst burst;
};

static struct subject *subjects;
static struct run run = {.elements = 1024,
                         .burst = {.threads = 2, .milliseconds = 100}};

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

static void work(unsigned index)
{
    run.subject->work(&run.loads[index]);
}

static void print(void)
{
    uint64_t all = 0, least = UINT64_MAX, inserted = 0, removed = 0;
    for (uint64_t i = 0; i < run.burst.threads; i++) {
        const struct load *load = &run.loads[i];
        all += load->operations;
        least = load->operations < least ? load->operations : least;
        inserted += load->inserted;
        removed += load->removed;
    }
    printf("{\"schema\":\"hasp.table/1\",\"subject\":\"%s\",\"lock\":\"%s\","
           "\"threads\":%llu,\"elements\":%llu,\"updates\":%llu,\"zipf\":%.2f,"
           "\"mops\":%.3f,\"least_share\":%.3f,\"inserted\":%llu,\"removed\":%llu}\n",
           run.subject->name, run.lock ? run.lock : "",
           (unsigned long long)run.burst.threads, (unsigned long long)run.elements,
           (unsigned long long)run.updates, run.zipf,
           (double)all * 1e3 / (double)run.burst.elapsed_ns,
           all ? (double)least * (double)run.burst.threads / (double)all : 0,
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
    run.table = run.subject->create(run.elements, run.lock);
    if (!run.table) {
        fputs("hasp-bench-tables: this table cannot be made with these options\n",
              stderr);
        return EXIT_USAGE;
    }
    set_quantiles();
    for (uint64_t i = 0; i < run.elements; i++)
        run.subject->put(run.table, key_of(2 * i), 2 * i + 1);
    for (unsigned i = 0; i < run.burst.threads; i++)
        run.loads[i] = (struct load){.table = run.table,
                                     .stop = &run.burst.stop,
                                     .quantiles = run.quantiles,
                                     .updates = (uint32_t)(run.updates * DICE / 100),
                                     .random = 12345 + 7919 * i};
    if (!burst_run(&run.burst, work)) {
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
            run.burst.threads = number;
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
            run.burst.milliseconds = number;
            break;
        case 'L':
            return list();
        default:
            return usage();
        }
    }
    bool good = run.subject && run.burst.threads && run.burst.threads < BURST_THREADS &&
                run.elements && run.updates <= 100 && run.burst.milliseconds;
    return good ? measure() : usage();
}
