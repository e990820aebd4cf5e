/* SPDX-License-Identifier: MIT */
#include "bench/workloads/usage.h"

#include "excluding.h"

#include <stdio.h>
#include <string.h>

static const char options[] =
    "Runs a workload once and prints one JSON line. Exits with status 1 if its check\n"
    "fails, which means that the lock did not exclude. NAME:N sets the knob in\n"
    "brackets.\n"
    "\n"
    "  --workload NAME    the same as NAME[:N]\n"
    "  --lock NAME        default " DEFAULT_LOCK "; " OTHER_LOCKS "\n"
    "  --rwlock NAME      reader-writer lock of `replay`, beside its --lock\n"
    "  --load FILE        the load of `replay`, as src/bench/workloads/replay.h says\n"
    "  --threads N        number of workers (default 2)\n"
    "  --cpus LIST        CPUs of the workers in order, such as 0,4-7, or `any` to\n"
    "                     leave them to the scheduler (default: %s)\n"
    "  --warm-up-ns N     time before the measured window (default 1000000)\n"
    "  --duration-ns N    length of the measured window (default 10000000)\n"
    "  --seconds S        the same in seconds, for example 0.5\n"
    "  --seed N           seed of all random numbers (default 1)\n"
    "  --machine FILE     the machine to simulate, as a flattened file\n"
    "  --park-ns N        natively, the cost of parking, for locks that may park\n"
    "                     (default: estimated; a simulated machine's is in its file)\n"
    "  --timeout SECONDS  give up after this time (default: never)\n"
    "  --list             print workloads and knobs, one JSON object per line\n";

static void print_settings(const struct workload *workload)
{
    int column = printf("     ");
    for (unsigned i = 0; i < workload->setting_count; i++) {
        const struct setting *setting = &workload->settings[i];
        const struct knob_description *knob = &knob_list[setting->knob];
        const char *shorthand = workload->shorthand ? workload->shorthand : "";
        bool short_one = strcmp(knob->name, shorthand) == 0;
        char number[24], text[80];
        snprintf(number, sizeof number, "%llu", (unsigned long long)setting->value);
        int length =
            snprintf(text, sizeof text, short_one ? " [%s=%s]" : " %s=%s", knob->name,
                     knob->words ? knob->words[setting->value] : number);
        if (column + length > 79)
            column = printf("\n     ") - 1;
        column += printf("%s", text);
    }
    printf("\n");
}

void usage_print(const char *program)
{
    printf("Usage: %s NAME[:N] [options] [KNOB=VALUE ...]\n", program);
    printf(options, PINNED_BY_DEFAULT ? "one after the other" : "any");
    printf("\nWorkloads, applications of the lock study that use locks in the same\n"
           "way, and knobs with their defaults:\n");
    for (unsigned i = 0; i < workload_count; i++) {
        const struct workload *workload = &workload_list[i];
        printf("  %s: %s\n", workload->name, workload->summary);
        if (workload->shape_of)
            printf("      like %s\n", workload->shape_of);
        print_settings(workload);
    }
    printf("\nKnobs (cycles are those of the time-stamp counter):\n");
    for (unsigned i = 0; i < KNOB_COUNT; i++)
        printf("  %-15s %s\n", knob_list[i].name, knob_list[i].summary);
}
