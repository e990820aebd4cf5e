/* SPDX-License-Identifier: MIT */
/* Command line of hasp-machine. */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/machine/measure.h"
#include "platform/workers.h"

enum { EXIT_USAGE = 2, NODES_MAX = 64, LISTS_MAX = CPUS_MAX };

const struct measure measures[] = {
    {"clock", 1, 1, 1, measure_clock, "the rate of the cycles used as unit"},
    {"coherence", 1, CPUS_MAX, 100, measure_coherence,
     "an operation on a line by state; CPUs are measurer, holder, sharers"},
    {"chase", 1, 1, 20, measure_chase, "a load from memory of --bytes"},
    {"atomic", 1, 1, 100, measure_atomic, "an atomic operation on a line of its own"},
    {"issue", 1, 1, 100, measure_issue, "a cached access beside an atomic one"},
    {"timer", 1, 1, 100, measure_timer, "an ordered reading of the cycle counter"},
    {"pause", 1, 1, 100, measure_pause, "one pause of a waiting thread"},
    {"call", 1, 1, 100, measure_call, "a wake-up call while nobody sleeps"},
    {"switch", 1, 1, 200, measure_switch, "a round trip between two threads on a CPU"},
    {"wake", 2, 2, 50, measure_wake, "from a wake-up call until the thread runs"},
    {"waking", 2, 2, 50, measure_waking, "the call that wakes a thread elsewhere"},
    {"wakeups", 2, 2, 50, measure_wakeups, "both, by how long the CPU had been idle"},
    {"slice", 1, 1, 1000, measure_slice, "length of a time slice on a contended CPU"},
    {"wait", 1, CPUS_MAX, 1, measure_wait, "--cases active, pausing or parked"},
};
const unsigned measure_count = sizeof measures / sizeof measures[0];

/* One request for each --cpus. */
static struct request *requests;
static unsigned request_count;

void refuse(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("hasp-machine: ", stderr);
    vfprintf(stderr, format, arguments);
    fputs("\n", stderr);
    va_end(arguments);
    exit(EXIT_USAGE);
}

void run_on(const struct request *request, unsigned count,
            void (*body)(unsigned index, void *argument), void *argument)
{
    if (!run_workers(count, request->cpus, body, argument))
        refuse("%s", workers_error());
}

void print_numbers(const char *name, const uint64_t *numbers, unsigned count)
{
    printf(",\"%s\":[", name);
    for (unsigned i = 0; i < count; i++)
        printf("%s%llu", i ? "," : "", (unsigned long long)numbers[i]);
    printf("]");
}

bool measure_clock(const struct request *request)
{
    (void)request;
    printf("{\"measure\":\"clock\",\"machine\":\"%s\",\"cycles_per_second\":%llu}\n",
           machine_name(), (unsigned long long)cycles_per_second());
    return true;
}

static void print_usage(FILE *file)
{
    fputs("Usage: hasp-machine MEASURE [options]\n"
          "Runs one measurement in a short burst and prints JSON lines of raw\n"
          "samples, in cycles of `clock`; each sample covers `batch` operations.\n"
          "\n"
          "  --cpus LIST        CPUs to run on, e.g. 0,1; may be given several times\n"
          "  --cases LIST       coherence: load:modified,cas:shared (default: all)\n"
          "  --samples N        number of samples (default: see below)\n"
          "  --batch N          coherence: lines in a sample (default: by resolution\n"
          "                     of the clock)\n"
          "  --lines N          coherence: number of distinct lines (default 64)\n"
          "  --bytes N          chase: size of the memory\n"
          "  --milliseconds N   slice and wait: duration (default 100)\n"
          "  --node N           NUMA node of the memory (default: by first touch)\n"
          "  --machine FILE     the machine to simulate\n"
          "  --list             print the cases of `coherence`\n"
          "  --help             print this\n"
          "\n"
          "Measures:\n",
          file);
    for (unsigned i = 0; i < measure_count; i++)
        fprintf(file, "  %-10s %4u  %s\n", measures[i].name, measures[i].samples,
                measures[i].summary);
}

static uint64_t parse_number(const char *option, const char *text, uint64_t least,
                             uint64_t most)
{
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno || *end || end == text || *text == '-' || number < least || number > most)
        refuse("%s takes a number from %llu to %llu, not \"%s\"; see --help", option,
               (unsigned long long)least, (unsigned long long)most, text);
    return number;
}

static void parse_cpus(char *text)
{
    char *rest;
    if (request_count == LISTS_MAX)
        refuse("more than %d lists of CPUs", LISTS_MAX);
    struct request *request = &requests[request_count++];
    for (char *word = strtok_r(text, ",", &rest); word;
         word = strtok_r(NULL, ",", &rest)) {
        int cpu = (int)parse_number("--cpus", word, 0, INT32_MAX);
        if (request->cpu_count == CPUS_MAX)
            refuse("--cpus takes at most %d CPUs", CPUS_MAX);
        for (unsigned i = 0; i < request->cpu_count; i++) {
            if (request->cpus[i] == cpu)
                refuse("CPU %d is in --cpus twice", cpu);
        }
        request->cpus[request->cpu_count++] = cpu;
    }
}

static const struct measure *find_measure(const char *name)
{
    for (unsigned i = 0; i < measure_count; i++) {
        if (strcmp(measures[i].name, name) == 0)
            return &measures[i];
    }
    refuse("there is no measurement \"%s\"; see --help", name);
}

static const struct option options[] = {
    {"cpus", required_argument, NULL, 'c'},
    {"cases", required_argument, NULL, 'k'},
    {"samples", required_argument, NULL, 's'},
    {"batch", required_argument, NULL, 'b'},
    {"lines", required_argument, NULL, 'L'},
    {"bytes", required_argument, NULL, 'm'},
    {"milliseconds", required_argument, NULL, 't'},
    {"node", required_argument, NULL, 'n'},
    {"machine", required_argument, NULL, 'M'},
    {"list", no_argument, NULL, 'l'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* Parses the options. All but --cpus apply to every list of CPUs. */
static struct request parse_options(int count, char **words)
{
    struct request common = {.node = -1, .milliseconds = 100, .lines = LINES_DEFAULT};
    int option;
    while ((option = getopt_long(count, words, "h", options, NULL)) != -1) {
        switch (option) {
        case 'c':
            parse_cpus(optarg);
            break;
        case 'k':
            common.cases = optarg;
            break;
        case 's':
            common.samples =
                (unsigned)parse_number("--samples", optarg, 1, SAMPLES_MAX);
            break;
        case 'b':
            common.batch = (unsigned)parse_number("--batch", optarg, 1, BATCH_MAX);
            break;
        case 'L':
            common.lines = (unsigned)parse_number("--lines", optarg, 1, LINES_MAX);
            break;
        case 'm':
            common.bytes = parse_number("--bytes", optarg, 1, 1ull << 36);
            break;
        case 't':
            common.milliseconds = parse_number("--milliseconds", optarg, 1, 60000);
            break;
        case 'n':
            common.node = (int)parse_number("--node", optarg, 0, NODES_MAX - 1);
            break;
        case 'M':
            if (!use_machine(optarg))
                refuse("%s", workers_error());
            break;
        case 'l':
            list_coherence();
            exit(EXIT_SUCCESS);
        case 'h':
            print_usage(stdout);
            exit(EXIT_SUCCESS);
        default:
            exit(EXIT_USAGE);
        }
    }
    return common;
}

int main(int count, char **words)
{
    requests = calloc(LISTS_MAX, sizeof *requests);
    if (!requests)
        refuse("out of memory for %d lists of CPUs", LISTS_MAX);
    struct request common = parse_options(count, words);
    if (optind + 1 != count)
        refuse("name one measurement; see --help");
    const struct measure *measure = find_measure(words[optind]);
    if (request_count == 0)
        requests[request_count++].cpu_count = 1; /* CPU 0 */
    for (unsigned i = 0; i < request_count; i++) {
        struct request request = requests[i];
        if (request.cpu_count < measure->cpus_least ||
            request.cpu_count > measure->cpus_most)
            refuse("%s takes --cpus with %u to %u of them", measure->name,
                   measure->cpus_least, measure->cpus_most);
        request.cases = common.cases;
        request.samples = common.samples ? common.samples : measure->samples;
        request.batch = common.batch;
        request.lines = common.lines;
        request.bytes = common.bytes;
        request.milliseconds = common.milliseconds;
        request.node = common.node;
        if (!measure->run(&request))
            return EXIT_FAILURE;
    }
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
