/* SPDX-License-Identifier: MIT */
/* hasp-bench-tables: runs one load on one hash table, and prints a JSON line. */
#include "bench/tables/subject.h"

#include "bench/burst_options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { EXIT_USAGE = 2 };

struct run {
    const struct subject *subject;
    struct burst_options options; /* percent: of updates */
    double zipf;                  /* exponent; 0: uniform */
    void *table;
    uint64_t quantiles[QUANTILES];
    struct load loads[BURST_THREADS];
};

static struct subject *subjects;
static struct run run = {
    .options = {.elements = 1024, .burst = {.threads = 2, .milliseconds = 100}}};

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
    double range = 2.0 * (double)run.options.elements, power = 1 - run.zipf;
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
        run.quantiles[i] = load_random(&random) % (2 * run.options.elements);
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
    for (uint64_t i = 0; i < run.options.burst.threads; i++) {
        const struct load *load = &run.loads[i];
        all += load->operations;
        least = load->operations < least ? load->operations : least;
        inserted += load->inserted;
        removed += load->removed;
    }
    printf("{\"schema\":\"hasp.table/1\",\"subject\":\"%s\",\"lock\":\"%s\","
           "\"threads\":%llu,\"elements\":%llu,\"updates\":%llu,\"zipf\":%.2f,"
           "\"operations\":%llu,\"mops\":%.3f,\"least_share\":%.3f,"
           "\"inserted\":%llu,\"removed\":%llu}\n",
           run.subject->name, run.options.lock ? run.options.lock : "",
           (unsigned long long)run.options.burst.threads,
           (unsigned long long)run.options.elements,
           (unsigned long long)run.options.percent, run.zipf, (unsigned long long)all,
           (double)all * 1e3 / (double)run.options.burst.elapsed_ns,
           all ? (double)least * (double)run.options.burst.threads / (double)all : 0,
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

static bool prepare(void)
{
    run.table = run.subject->create(run.options.elements, run.options.lock);
    return run.table != NULL;
}

static int measure(void)
{
    struct burst *burst = &run.options.burst;
    if (!burst_prepare(burst, prepare)) {
        fputs("hasp-bench-tables: this table cannot be made with these options\n",
              stderr);
        return EXIT_USAGE;
    }
    set_quantiles();
    for (uint64_t i = 0; i < run.options.elements; i++)
        run.subject->put(run.table, key_of(2 * i), 2 * i + 1);
    for (unsigned i = 0; i < burst->threads; i++)
        run.loads[i] =
            (struct load){.table = run.table,
                          .stop = &burst->stop,
                          .quantiles = run.quantiles,
                          .updates = (uint32_t)(run.options.percent * DICE / 100),
                          .random = 12345 + 7919 * i};
    if (!burst_run(burst, work)) {
        fprintf(stderr, "hasp-bench-tables: %s\n", workers_error());
        return EXIT_USAGE;
    }
    print();
    return 0;
}

/* Returns NULL if there is none of this name. */
static const struct subject *subject_find(const char *name)
{
    const struct subject *subject = subjects;
    while (subject && strcmp(subject->name, name) != 0)
        subject = subject->next;
    return subject;
}

int main(int count, char **words)
{
    static const struct option options[] = {BURST_OPTIONS,
                                            {"updates", 1, NULL, 'u'},
                                            {"zipf", 1, NULL, 'z'},
                                            {NULL, 0, NULL, 0}};
    int option;
    while ((option = getopt_long(count, words, "", options, NULL)) != -1)
        if (option == 'z')
            run.zipf = strtod(optarg, NULL);
        else if (!burst_option(&run.options, option))
            return usage();
    if (run.options.lists)
        return list();
    run.subject = run.options.subject ? subject_find(run.options.subject) : NULL;
    bool good =
        run.subject && run.options.elements && burst_options_valid(&run.options);
    return good ? measure() : usage();
}
