/* SPDX-License-Identifier: MIT */
/* bottleneck PART[:KNOB=VALUE,...]...: runs the parts, checks them, and prints one line
 * of JSON. */
#include <getopt.h>

#include "corpus.h"

static struct part *const all_parts[] = {&hot,    &polled, &owned, &striped, &queue,
                                         &phases, &start,  &churn, &stream};
enum { PARTS_MOST = sizeof all_parts / sizeof *all_parts, THREADS_MOST = 4096 };

static struct part *parts[PARTS_MOST];
static unsigned part_count;
static unsigned threads = 2;
static double seconds = 0.2;
static unsigned long long seed = 1;
static int stopping;
static struct worker workers[THREADS_MOST];

/* Pins each thread to a CPU of its own if there are enough. Otherwise the scheduler
 * would often place two threads that wake each other on one CPU, where they would
 * seldom contend. */
static void pin(unsigned index)
{
    cpu_set_t allowed, own;
    CHECK_EQUAL(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    if (threads > (unsigned)CPU_COUNT(&allowed))
        return;
    unsigned left = index;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed) || left-- > 0)
            continue;
        CPU_ZERO(&own);
        CPU_SET(cpu, &own);
        CHECK_EQUAL(sched_setaffinity(0, sizeof own, &own), 0);
        return;
    }
}

static void *body(void *argument)
{
    struct worker *worker = argument;
    pin(worker->index);
    while (!check_get(&stopping)) {
        worker->steps++;
        for (unsigned i = 0; i < part_count; i++)
            parts[i]->step(parts[i], worker);
    }
    return NULL;
}

static void print_usage(void)
{
    printf("Usage: bottleneck [--threads N] [--seconds S] [--seed N] "
           "PART[:KNOB=VALUE,...]...\n"
           "Every thread does one step of each part in turn. Parts and their knobs:\n");
    for (unsigned i = 0; i < PARTS_MOST; i++) {
        printf("  %-8s %s\n          ", all_parts[i]->name, all_parts[i]->summary);
        for (unsigned n = 0; n < KNOBS_MOST && all_parts[i]->knobs[n].name; n++)
            printf(" %s=%llu", all_parts[i]->knobs[n].name,
                   (unsigned long long)all_parts[i]->knobs[n].value);
        printf("\n");
    }
}

static void set_knob(struct part *part, char *word)
{
    char *equals = strchr(word, '='), *end;
    if (!equals)
        check_end(2, "bottleneck: \"%s\" is not KNOB=VALUE\n", word);
    *equals = '\0';
    unsigned long long value = strtoull(equals + 1, &end, 10);
    for (unsigned i = 0; i < KNOBS_MOST && part->knobs[i].name; i++) {
        struct knob *knob = &part->knobs[i];
        if (strcmp(knob->name, word) != 0)
            continue;
        if (end == equals + 1 || *end || value < knob->least || value > knob->most)
            check_end(2, "bottleneck: %s:%s takes %llu to %llu, not \"%s\"\n",
                      part->name, word, (unsigned long long)knob->least,
                      (unsigned long long)knob->most, equals + 1);
        knob->value = value;
        return;
    }
    check_end(2, "bottleneck: %s has no knob \"%s\"; see --help\n", part->name, word);
}

static void add_part(char *text)
{
    char *colon = strchr(text, ':');
    if (colon)
        *colon = '\0';
    for (unsigned i = 0; i < part_count; i++)
        if (strcmp(parts[i]->name, text) == 0)
            check_end(2, "bottleneck: part \"%s\" is given twice\n", text);
    struct part *part = NULL;
    for (unsigned i = 0; i < PARTS_MOST; i++)
        if (strcmp(all_parts[i]->name, text) == 0)
            part = all_parts[i];
    if (!part)
        check_end(2, "bottleneck: no part \"%s\"; see --help\n", text);
    parts[part_count++] = part;
    for (char *save, *word = colon ? strtok_r(colon + 1, ",", &save) : NULL; word;
         word = strtok_r(NULL, ",", &save))
        set_knob(part, word);
}

static void parse(int count, char **words)
{
    static const struct option options[] = {
        {"threads", required_argument, NULL, 't'},
        {"seconds", required_argument, NULL, 'n'},
        {"seed", required_argument, NULL, 's'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    for (int option; (option = getopt_long(count, words, "h", options, NULL)) != -1;) {
        switch (option) {
        case 't':
            threads = (unsigned)atoi(optarg);
            break;
        case 'n':
            seconds = atof(optarg);
            break;
        case 's':
            seed = strtoull(optarg, NULL, 10);
            break;
        case 'h':
            print_usage();
            exit(0);
        default:
            exit(2);
        }
    }
    if (threads < 1 || threads > THREADS_MOST)
        check_end(2, "bottleneck: --threads takes 1 to %d\n", THREADS_MOST);
    if (!(seconds > 0 && seconds <= 86400))
        check_end(2, "bottleneck: --seconds takes a time up to a day\n");
    for (int i = optind; i < count; i++)
        add_part(words[i]);
    if (part_count == 0)
        check_end(2, "bottleneck: name a part; see --help\n");
}

int main(int count, char **words)
{
    static pthread_t handles[THREADS_MOST];
    parse(count, words);
    for (unsigned i = 0; i < part_count; i++)
        if (parts[i]->prepare)
            parts[i]->prepare(parts[i], threads, seed);
    long long began = check_now_ns(CLOCK_MONOTONIC);
    for (unsigned i = 0; i < threads; i++) {
        workers[i].index = i;
        workers[i].random = (seed + 1) * 0x9e3779b97f4a7c15u + i * 0xd1342543de82ef95u;
        workers[i].random |= 1;
        handles[i] = check_start(body, &workers[i]);
    }
    check_sleep_us((long)(seconds * 1e6));
    check_set(&stopping, 1);
    for (unsigned i = 0; i < part_count; i++)
        if (parts[i]->wind_up)
            parts[i]->wind_up(parts[i]);
    uint64_t steps = 0;
    for (unsigned i = 0; i < threads; i++) {
        check_join(handles[i]);
        steps += workers[i].steps;
    }
    double took = (double)(check_now_ns(CLOCK_MONOTONIC) - began) / 1e9;
    for (unsigned i = 0; i < part_count; i++)
        if (parts[i]->check)
            parts[i]->check(parts[i], steps);
    printf("{\"threads\": %u, \"seconds\": %.6f, \"operations\": %llu, "
           "\"operations_per_second\": %.1f}\n",
           threads, took, (unsigned long long)steps, (double)steps / took);
    return 0;
}
