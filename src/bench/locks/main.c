/* SPDX-License-Identifier: MIT */
/* Command line of hasp-bench-locks. */
#include "bench/locks/bench.h"
#include "platform/platform.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum {
    EXIT_USAGE = 2,
    OPTION_LIST = 256,
    OPTION_GRACE,
    OPTION_MUTEXES,
    OPTION_BESIDE,
    OPTION_THINK,
    OPTION_PINNED,
};

/* Printed by the watchdog if the measurement hangs. */
static const struct bench_case *current_case;
static struct options options = {.mutexes = 100000, .seconds = -1, .grace = 0.5};
static struct result result = {
    .value = -1,
    .seconds = -1,
    .operations = -1,
    .fairness = -1,
    .starvation_ms = -1,
    .outcome = "ok",
};

/* Added to the measured time and the grace period, because a busy machine may be slow
 * to start threads and processes. A single stuck thread is detected earlier. */
static double watchdog_seconds(void)
{
    bool starts_nothing =
        options.threads == 1 && current_case->measure != measure_startup;
    double margin = starts_nothing ? 1.5 : 8;
    return options.seconds + options.grace + margin;
}

static void result_set(struct result *to, const char *outcome, const char *format,
                       va_list arguments)
{
    to->outcome = outcome;
    vsnprintf(to->reason, sizeof to->reason, format, arguments);
}

void result_failed(struct result *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    result_set(to, "failed", format, arguments);
    va_end(arguments);
    to->value = -1;
}

void result_hung(struct result *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    result_set(to, "hang", format, arguments);
    va_end(arguments);
}

void result_collapsed(struct result *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    result_set(to, "collapse", format, arguments);
    va_end(arguments);
}

/* Prints ,"name":number with enough digits, or null if the number is negative. */
static size_t put_number(char *text, size_t size, const char *name, double number)
{
    int length = number < 0 ? snprintf(text, size, ",\"%s\":null", name)
                            : snprintf(text, size, ",\"%s\":%.7g", name, number);
    return (size_t)length < size ? (size_t)length : size - 1;
}

/* Uses one write() and no stdio stream, because the watchdog calls it in its signal
 * handler. Reasons contain no characters that need quoting. */
static void print_result(void)
{
    char text[1024];
    size_t size = sizeof text;
    size_t length = (size_t)snprintf(
        text, size, "{\"case\":\"%s\",\"threads\":%u,\"floor\":%s,\"unit\":\"%s\"",
        current_case->name, options.threads, options.floor ? "true" : "false",
        current_case->unit);
    length += put_number(text + length, size - length, "value", result.value);
    length += put_number(text + length, size - length, "seconds", result.seconds);
    length += put_number(text + length, size - length, "operations", result.operations);
    length += put_number(text + length, size - length, "fairness", result.fairness);
    length +=
        put_number(text + length, size - length, "starvation_ms", result.starvation_ms);
    length += (size_t)snprintf(text + length, size - length,
                               ",\"outcome\":\"%s\",\"reason\":\"%s\"}\n",
                               result.outcome, result.reason);
    if (write(STDOUT_FILENO, text, length) != (ssize_t)length)
        _exit(1);
}

/* The main thread is stuck in the lock under test, or in starting a thread. */
static void watchdog_bites(int signal_number)
{
    (void)signal_number;
    result_hung(&result, "still running after %.1f s", watchdog_seconds());
    print_result();
    _exit(0);
}

static void set_watchdog(double seconds)
{
    struct sigaction action = {.sa_handler = watchdog_bites};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval timer = {
        .it_value = {.tv_sec = (time_t)seconds,
                     .tv_usec = (suseconds_t)(fmod(seconds, 1) * 1e6)},
    };
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void list_cases(void)
{
    for (unsigned i = 0; i < bench_case_count; i++) {
        const struct bench_case *item = &bench_cases[i];
        printf("{\"case\":\"%s\",\"unit\":\"%s\",\"better\":\"%s\",\"threads\":[%u",
               item->name, item->unit, item->better, item->default_threads());
        for (int n = 0; n < 2 && item->also_threads[n]; n++)
            printf(",%u", item->also_threads[n]());
        printf("],\"think_ns\":[");
        for (unsigned n = 0; n < item->think_time_count; n++)
            printf("%s%u", n ? "," : "", item->think_times_ns[n]);
        printf("],\"seconds\":%g,\"floor\":%s,\"lock\":%s,\"summary\":\"%s\"}\n",
               item->default_seconds, item->has_floor ? "true" : "false",
               item->uses_lock ? "true" : "false", item->summary);
    }
}

static void print_usage(FILE *file)
{
    fputs("Usage: hasp-bench-locks CASE [options]\n"
          "Measures one case once with the process's pthread mutex, and prints one\n"
          "JSON line. A lock that hangs is a result, not an error.\n"
          "\n"
          "  --threads N    number of threads (default: see --list)\n"
          "  --seconds S    duration of the measurement (default: see --list)\n"
          "  --grace S      time for threads to end after that (default 0.5)\n"
          "  --mutexes N    bytes_per_mutex: number of mutexes (default 100000)\n"
          "  --beside N     uncontended: N multiplications after each pair, about a\n"
          "                 nanosecond each (default 0)\n"
          "  --think NS     think_time, section_time: nanoseconds of work outside the\n"
          "                 section, each time (default 0)\n"
          "  --pinned       think_time, section_time: each thread stays on one CPU\n"
          "  --floor        an inlined test-and-set byte instead of the pthread calls\n"
          "  --list         print the cases, one JSON object per line\n"
          "  --help         print this\n"
          "\n"
          "Cases:\n",
          file);
    for (unsigned i = 0; i < bench_case_count; i++)
        fprintf(file, "  %-18s %s\n", bench_cases[i].name, bench_cases[i].summary);
}

static void usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void usage_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("hasp-bench-locks: ", stderr);
    vfprintf(stderr, format, arguments);
    fputs("; see hasp-bench-locks --help\n", stderr);
    va_end(arguments);
    exit(EXIT_USAGE);
}

static unsigned parse_number(const char *option, const char *text, unsigned least,
                             unsigned most)
{
    char *end;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (errno || *end || end == text || *text == '-' || number < least || number > most)
        usage_error("%s takes a number from %u to %u, not \"%s\"", option, least, most,
                    text);
    return (unsigned)number;
}

static unsigned parse_count(const char *option, const char *text, unsigned most)
{
    return parse_number(option, text, 1, most);
}

static double parse_seconds(const char *option, const char *text)
{
    char *end;
    double seconds = strtod(text, &end);
    if (*end || end == text || !(seconds > 0 && seconds <= 3600))
        usage_error("%s takes seconds, more than 0 and at most 3600, not \"%s\"",
                    option, text);
    return seconds;
}

static const struct bench_case *find_case(const char *name)
{
    for (unsigned i = 0; i < bench_case_count; i++) {
        if (strcmp(bench_cases[i].name, name) == 0)
            return &bench_cases[i];
    }
    usage_error("there is no case \"%s\"", name);
    return NULL;
}

static const struct option long_options[] = {
    {"threads", required_argument, NULL, 't'},
    {"seconds", required_argument, NULL, 's'},
    {"grace", required_argument, NULL, OPTION_GRACE},
    {"mutexes", required_argument, NULL, OPTION_MUTEXES},
    {"beside", required_argument, NULL, OPTION_BESIDE},
    {"think", required_argument, NULL, OPTION_THINK},
    {"pinned", no_argument, NULL, OPTION_PINNED},
    {"floor", no_argument, NULL, 'f'},
    {"list", no_argument, NULL, OPTION_LIST},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* Fills in the defaults of the case. */
static void check_options(void)
{
    if (options.threads == 0)
        options.threads = current_case->default_threads();
    if (!current_case->threads_allowed(options.threads))
        usage_error("%s takes --threads %s", current_case->name,
                    current_case->threads_words);
    if (options.floor && !current_case->has_floor)
        usage_error("%s has no --floor", current_case->name);
    bool is_pair = current_case->measure == measure_uncontended && !options.floor;
    if (options.beside && !is_pair)
        usage_error("--beside is for uncontended, without --floor");
    if ((options.think_ns || options.pinned) && !current_case->think_time_count)
        usage_error("--think and --pinned are for think_time and section_time");
    if (options.seconds < 0)
        options.seconds = current_case->default_seconds;
}

static void parse_arguments(int argument_count, char **arguments)
{
    for (;;) {
        int option = getopt_long(argument_count, arguments, "h", long_options, NULL);
        if (option == -1)
            break;
        switch (option) {
        case 't':
            options.threads = parse_count("--threads", optarg, 4096);
            break;
        case 's':
            options.seconds = parse_seconds("--seconds", optarg);
            break;
        case OPTION_GRACE:
            options.grace = parse_seconds("--grace", optarg);
            break;
        case OPTION_MUTEXES:
            options.mutexes = parse_count("--mutexes", optarg, 100000000);
            break;
        case OPTION_BESIDE:
            options.beside = parse_count("--beside", optarg, 1000000);
            break;
        case OPTION_THINK:
            options.think_ns = parse_number("--think", optarg, 0, 1000000000);
            break;
        case OPTION_PINNED:
            options.pinned = true;
            break;
        case 'f':
            options.floor = true;
            break;
        case OPTION_LIST:
            list_cases();
            exit(EXIT_SUCCESS);
        case 'h':
            print_usage(stdout);
            exit(EXIT_SUCCESS);
        default:
            fputs("hasp-bench-locks: see hasp-bench-locks --help\n", stderr);
            exit(EXIT_USAGE);
        }
    }
    if (optind + 1 != argument_count)
        usage_error("name one case");
    current_case = find_case(arguments[optind]);
    check_options();
}

int main(int argument_count, char **arguments)
{
    topology_read(NULL);
    parse_arguments(argument_count, arguments);
    set_watchdog(watchdog_seconds());
    current_case->measure(&options, &result);
    print_result();
    /* Threads that have not ended may hold a lock that an exit handler needs. */
    _exit(0);
}
