/* SPDX-License-Identifier: MIT */
/* Command line of hasp-workloads, hasp-shapes and hasp-simulate. */
#include "bench/workloads/report.h"
#include "bench/workloads/usage.h"
#include "eliding.h"
#include "excluding.h"
#include "sharing.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_USAGE = 2, WORKERS_MAX = 4096 };

static const char *program;
static struct run run = {.seed = 1};
static const char *lock_name, *rwlock_name;
static uint64_t warm_up_ns = 1000000, duration_ns = 10000000;
static uint32_t park_ns;
static int cpus[WORKERS_MAX];
static unsigned cpus_given;
static bool any_cpu;

static void usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void usage_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", program);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "; see %s --help\n", program);
    va_end(arguments);
    exit(EXIT_USAGE);
}

static uint64_t parse_seconds(const char *text)
{
    char *stop;
    double seconds = strtod(text, &stop);
    if (stop == text || *stop || !(seconds >= 1e-6 && seconds <= 86400))
        usage_error("--seconds takes a time from 0.000001 to 86400, not \"%s\"", text);
    return (uint64_t)(seconds * 1e9);
}

/* Parses digits up to `end`. */
static uint64_t parse_number(const char *what, const char *text, const char *end,
                             uint64_t least, uint64_t most)
{
    char *stop;
    errno = 0;
    unsigned long long number = strtoull(text, &stop, 10);
    if (*text < '0' || *text > '9' || stop != end || errno || number < least ||
        number > most)
        usage_error("%s takes a number from %llu to %llu, not \"%.*s\"", what,
                    (unsigned long long)least, (unsigned long long)most,
                    (int)(end - text), text);
    return number;
}

static uint64_t parse_whole(const char *what, const char *text, uint64_t least,
                            uint64_t most)
{
    return parse_number(what, text, text + strlen(text), least, most);
}

static void add_cpu(int cpu)
{
    if (cpus_given == WORKERS_MAX)
        usage_error("--cpus names more than %d CPUs", WORKERS_MAX);
    cpus[cpus_given++] = cpu;
}

static void parse_cpus(const char *text)
{
    any_cpu = strcmp(text, "any") == 0;
    cpus_given = 0;
    while (!any_cpu) {
        const char *end = text + strcspn(text, ",");
        const char *dash = memchr(text, '-', (size_t)(end - text));
        int first = (int)parse_number("--cpus", text, dash ? dash : end, 0, 65535);
        int last = first;
        if (dash)
            last = (int)parse_number("--cpus", dash + 1, end, 0, 65535);
        for (int cpu = first; cpu <= last; cpu++)
            add_cpu(cpu);
        if (!*end)
            break;
        text = end + 1;
    }
}

static const struct setting *setting_of(const struct workload *workload,
                                        const char *name, size_t length)
{
    for (unsigned i = 0; i < workload->setting_count; i++) {
        const char *known = knob_list[workload->settings[i].knob].name;
        if (strlen(known) == length && strncmp(known, name, length) == 0)
            return &workload->settings[i];
    }
    usage_error("%s has no knob \"%.*s\"", workload->name, (int)length, name);
    return NULL;
}

static void set_knob(const char *name, size_t length, const char *value)
{
    const struct setting *setting = setting_of(run.workload, name, length);
    const struct knob_description *knob = &knob_list[setting->knob];
    if (!knob->words) {
        run.knobs[setting->knob] =
            parse_whole(knob->name, value, knob->least, knob->most);
        return;
    }
    for (unsigned i = 0; knob->words[i]; i++) {
        if (strcmp(knob->words[i], value) == 0) {
            run.knobs[setting->knob] = i;
            return;
        }
    }
    usage_error("%s has no value \"%s\" (see --list)", knob->name, value);
}

static void parse_workload(const char *text)
{
    size_t length = strcspn(text, ":");
    for (unsigned i = 0; i < workload_count && !run.workload; i++) {
        const char *known = workload_list[i].name;
        if (strlen(known) == length && strncmp(known, text, length) == 0)
            run.workload = &workload_list[i];
    }
    if (!run.workload)
        usage_error("there is no workload \"%.*s\"", (int)length, text);
    for (unsigned i = 0; i < run.workload->setting_count; i++)
        run.knobs[run.workload->settings[i].knob] = run.workload->settings[i].value;
    if (!text[length])
        return;
    const char *knob = run.workload->shorthand;
    if (!knob)
        usage_error("%s takes no value after a colon", run.workload->name);
    set_knob(knob, strlen(knob), text + length + 1);
}

static void give_up(int signal_number)
{
    static const char words[] = ": the run timed out\n";
    (void)signal_number;
    if (write(STDERR_FILENO, program, strlen(program)) < 0 ||
        write(STDERR_FILENO, words, sizeof words - 1) < 0)
        _exit(EXIT_FAILURE);
    _exit(EXIT_FAILURE);
}

static void pick_machine(const char *path)
{
    if (!use_machine(path)) {
        fprintf(stderr, "%s: %s\n", program, workers_error());
        exit(EXIT_USAGE);
    }
}

static const struct option options[] = {
    {"workload", required_argument, NULL, 'w'},
    {"lock", required_argument, NULL, 'l'},
    {"rwlock", required_argument, NULL, 'r'},
    {"load", required_argument, NULL, 'f'},
    {"threads", required_argument, NULL, 't'},
    {"cpus", required_argument, NULL, 'c'},
    {"warm-up-ns", required_argument, NULL, 'u'},
    {"duration-ns", required_argument, NULL, 'd'},
    {"seconds", required_argument, NULL, 'n'},
    {"seed", required_argument, NULL, 's'},
    {"machine", required_argument, NULL, 'm'},
    {"park-ns", required_argument, NULL, 'p'},
    {"timeout", required_argument, NULL, 'o'},
    {"list", no_argument, NULL, 'i'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* Returns the value of --workload, or NULL. */
static const char *parse_options(int argument_count, char **arguments)
{
    const char *workload = NULL;
    for (int option;
         (option = getopt_long(argument_count, arguments, "h", options, NULL)) != -1;) {
        switch (option) {
        case 'w':
            workload = optarg;
            break;
        case 'l':
            lock_name = optarg;
            break;
        case 'r':
            rwlock_name = optarg;
            break;
        case 'f':
            run.load = optarg;
            break;
        case 't':
            run.threads = (unsigned)parse_whole("--threads", optarg, 1, WORKERS_MAX);
            break;
        case 'c':
            parse_cpus(optarg);
            break;
        case 'u':
            warm_up_ns = parse_whole("--warm-up-ns", optarg, 0, 3600000000000);
            break;
        case 'd':
            duration_ns = parse_whole("--duration-ns", optarg, 1, 3600000000000);
            break;
        case 'n':
            duration_ns = parse_seconds(optarg);
            break;
        case 's':
            run.seed = parse_whole("--seed", optarg, 0, UINT64_MAX);
            break;
        case 'm':
            pick_machine(optarg);
            break;
        case 'p':
            park_ns = (uint32_t)parse_whole("--park-ns", optarg, 1, UINT32_MAX);
            break;
        case 'o':
            signal(SIGALRM, give_up);
            alarm((unsigned)parse_whole("--timeout", optarg, 1, 86400));
            break;
        case 'i':
            report_workloads();
            exit(EXIT_SUCCESS);
        case 'h':
            usage_print(program);
            exit(EXIT_SUCCESS);
        default:
            fprintf(stderr, "%s: see %s --help\n", program, program);
            exit(EXIT_USAGE);
        }
    }
    return workload;
}

static void parse_arguments(int argument_count, char **arguments)
{
    const char *workload = parse_options(argument_count, arguments);
    if (!workload && optind < argument_count && !strchr(arguments[optind], '='))
        workload = arguments[optind++];
    if (!workload)
        usage_error("name a --workload");
    parse_workload(workload);
    for (int i = optind; i < argument_count; i++) {
        const char *equals = strchr(arguments[i], '=');
        if (!equals)
            usage_error("\"%s\" is not KNOB=VALUE", arguments[i]);
        set_knob(arguments[i], (size_t)(equals - arguments[i]), equals + 1);
    }
}

/* Picks the reader-writer lock, DEFAULT_RWLOCK if `name` is NULL. Returns its name. */
static const char *pick_rwlock(const char *name)
{
    int found = rwlock_find(name ? name : DEFAULT_RWLOCK);
    if (found < 0)
        usage_error("there is no reader-writer lock \"%s\"", name);
    if (found == 0)
        usage_error("glibc's reader-writer lock cannot run here");
    const struct rwlock_descriptor lock = rwlock_at((unsigned)found);
    run.rwlock = lock.operations;
    rwlock_default_slot = (unsigned)found + 1;
    return lock.about.name;
}

static void pick_lock(void)
{
    bool takes_both = run.workload->takes_lock && run.workload->takes_rwlock;
    if (rwlock_name && !takes_both)
        usage_error("%s takes no --rwlock", run.workload->name);
    if (takes_both)
        pick_rwlock(rwlock_name);
    else if (run.workload->takes_rwlock) {
        lock_name = pick_rwlock(lock_name);
        return;
    }
    if (!run.workload->takes_lock) {
        if (lock_name)
            usage_error("%s takes no lock", run.workload->name);
        return;
    }
    int found = eliding_find(lock_name ? lock_name : DEFAULT_LOCK);
    if (found < 0)
        usage_error("there is no lock \"%s\" (" OTHER_LOCKS ")", lock_name);
    if (found == 0)
        usage_error("glibc's mutex cannot run here; futex is the same algorithm");
    if (!eliding_can(found))
        usage_error("%s has no transactions, which \"%s\" needs", machine_name(),
                    lock_name);
    use_park_cost(eliding_is_calibrated(found) ? park_ns : 0,
                  eliding_is_calibrated(found));
    run.lock = eliding_operations(found);
    lock_name = eliding_name(found);
}

static void place_workers(void)
{
    const struct workload *workload = run.workload;
    if (!run.threads)
        run.threads = workload->unpinned ? 4 * cpu_count() : 2;
    if (run.threads < workload->threads_least || run.threads > workload->threads_most)
        usage_error("%s takes --threads from %u to %u, not %u", workload->name,
                    workload->threads_least, workload->threads_most, run.threads);
    if (cpus_given && cpus_given < run.threads)
        usage_error("--cpus names %u CPUs for %u threads", cpus_given, run.threads);
    if (any_cpu || (!cpus_given && (workload->unpinned || !PINNED_BY_DEFAULT)))
        return;
    for (unsigned i = 0; i < run.threads && !cpus_given; i++)
        cpus[i] = (int)(i % cpu_count());
    run.cpus = cpus;
}

int main(int argument_count, char **arguments)
{
    const char *slash = strrchr(arguments[0], '/');
    program = slash ? slash + 1 : arguments[0];
    parse_arguments(argument_count, arguments);
    if (!*machine_name())
        usage_error("name a --machine to simulate");
    if (run.workload->takes_load != (run.load != NULL))
        usage_error("%s takes %s --load", run.workload->name, run.load ? "no" : "a");
    pick_lock();
    place_workers();
    run.warm_up = cycles_of_ns(warm_up_ns);
    run.duration = cycles_of_ns(duration_ns);
    if (!run_measure(&run)) {
        fprintf(stderr, "%s: %s\n", program, run.explanation);
        return run.refused ? EXIT_USAGE : EXIT_FAILURE;
    }
    return report_print(&run, lock_name) ? EXIT_SUCCESS : EXIT_FAILURE;
}
