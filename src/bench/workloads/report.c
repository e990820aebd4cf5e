/* SPDX-License-Identifier: MIT */
#include "bench/workloads/report.h"

#include <stdio.h>

static double ns_of(uint64_t cycles)
{
    return (double)cycles * 1e9 / (double)cycles_per_second();
}

/* Three decimals show a tenth of a cycle on any machine. */
static void put(const char *key, double value)
{
    printf(",\"%s\":%.3f", key, value);
}

static void put_if(bool known, const char *key, double value)
{
    if (known)
        put(key, value);
    else
        printf(",\"%s\":null", key);
}

static void put_count(const char *key, uint64_t count)
{
    printf(",\"%s\":%llu", key, (unsigned long long)count);
}

static void put_count_if(bool known, const char *key, uint64_t count)
{
    if (known)
        put_count(key, count);
    else
        printf(",\"%s\":null", key);
}

struct summary {
    struct histogram acquire, handover, operation;
    uint64_t operations, longest_run, longest_gap;
    double squares;   /* of the workers' operations */
    unsigned counted; /* workers that count operations */
};

static void summarize(const struct run *run, struct summary *all)
{
    for (unsigned i = 0; i < run->threads; i++) {
        const struct worker *worker = &run->workers[i];
        const struct statistics *statistics = &run->statistics[i];
        histogram_merge(&all->acquire, &statistics->acquire);
        histogram_merge(&all->handover, &statistics->handover);
        histogram_merge(&all->operation, &statistics->operation);
        if (worker->longest_run > all->longest_run)
            all->longest_run = worker->longest_run;
        if (worker->aside)
            continue;
        uint64_t since = worker->last_end ? worker->last_end : run->window_start;
        uint64_t gap = run->window_end - since;
        gap = gap > worker->longest_gap ? gap : worker->longest_gap;
        all->longest_gap = gap > all->longest_gap ? gap : all->longest_gap;
        all->operations += worker->operations;
        all->squares += (double)worker->operations * (double)worker->operations;
        all->counted++;
    }
}

/* R. Jain, D. Chiu and W. Hawe, "A quantitative measure of fairness and discrimination
 * for resource allocation in shared computer systems", DEC TR-301, 1984. */
static double jain(const struct summary *all)
{
    double sum = (double)all->operations;
    return sum * sum / (all->counted * all->squares);
}

static void put_histogram(const struct histogram *histogram, const char *name)
{
    char key[40];
    snprintf(key, sizeof key, "%s_p50_ns", name);
    put_if(histogram->count, key, ns_of(histogram_percentile(histogram, 50)));
    snprintf(key, sizeof key, "%s_p99_ns", name);
    put_if(histogram->count, key, ns_of(histogram_percentile(histogram, 99)));
    snprintf(key, sizeof key, "%s_mean_ns", name);
    put_if(histogram->count, key,
           histogram->count ? ns_of(histogram->sum) / (double)histogram->count : 0);
    snprintf(key, sizeof key, "%s_max_ns", name);
    put_if(histogram->count, key, ns_of(histogram->most));
}

static void put_knobs(const struct run *run)
{
    printf(",\"knobs\":{");
    for (unsigned i = 0; i < run->workload->setting_count; i++) {
        enum knob knob = run->workload->settings[i].knob;
        const struct knob_description *description = &knob_list[knob];
        uint64_t value = run->knobs[knob];
        printf("%s\"%s\":", i ? "," : "", description->name);
        if (description->words)
            printf("\"%s\"", description->words[value]);
        else
            printf("%llu", (unsigned long long)value);
    }
    printf("}");
}

static void put_operations(const struct run *run)
{
    printf(",\"worker_operations\":[");
    for (unsigned i = 0; i < run->threads; i++)
        printf("%s%llu", i ? "," : "", (unsigned long long)run->workers[i].operations);
    printf("]");
}

bool report_print(const struct run *run, const char *lock)
{
    static struct summary all;
    summarize(run, &all);
    const char *quote = lock ? "\"" : "";
    double window_ns = ns_of(run->window_end - run->window_start);
    const struct platform_counts *from = &run->counts_start, *to = &run->counts_end;
    printf("{\"machine\":\"%s\",\"workload\":\"%s\",\"lock\":%s%s%s,\"threads\":%u,"
           "\"seed\":%llu",
           machine_name(), run->workload->name, quote, lock ? lock : "null", quote,
           run->threads, (unsigned long long)run->seed);
    printf(",\"throughput_mops\":%.6f", (double)all.operations * 1e3 / window_ns);
    put_if(all.operations, "jain_fairness", all.operations ? jain(&all) : 0);
    put_histogram(&all.acquire, "acquire");
    put_if(all.handover.count, "handover_ns",
           ns_of(histogram_percentile(&all.handover, 50)));
    bool known = from->known && to->known;
    put_count_if(known, "transfers_local", to->transfers_local - from->transfers_local);
    put_count_if(known, "transfers_remote",
                 to->transfers_remote - from->transfers_remote);
    put_count_if(known, "simulator_events", to->events - from->events);
    put_if(known && all.operations, "energy_nj_per_op",
           all.operations ? (double)(to->energy_pj - from->energy_pj) / 1e3 /
                                (double)all.operations
                          : 0);
    put_count_if(all.longest_run, "longest_run", all.longest_run);
    put("measured_ns", window_ns);
    put_if(known, "simulated_ns", ns_of(run->ended - run->started));
    put_histogram(&all.operation, "operation");
    put("longest_gap_ns", ns_of(all.longest_gap));
    put_count("operations", all.operations);
    put_operations(run);
    put_knobs(run);
    if (run->workload->report)
        run->workload->report(run);
    printf("}\n");
    return fflush(stdout) == 0;
}

static void print_knobs(const struct workload *workload)
{
    for (unsigned i = 0; i < workload->setting_count; i++) {
        const struct setting *setting = &workload->settings[i];
        const struct knob_description *knob = &knob_list[setting->knob];
        printf("%s{\"name\":\"%s\",\"default\":", i ? "," : "", knob->name);
        if (!knob->words) {
            printf("%llu,\"least\":%llu,\"most\":%llu",
                   (unsigned long long)setting->value, (unsigned long long)knob->least,
                   (unsigned long long)knob->most);
        } else {
            printf("\"%s\",\"words\":[", knob->words[setting->value]);
            for (unsigned n = 0; knob->words[n]; n++)
                printf("%s\"%s\"", n ? "," : "", knob->words[n]);
            printf("]");
        }
        printf(",\"summary\":\"%s\"}", knob->summary);
    }
}

void report_workloads(void)
{
    for (unsigned i = 0; i < workload_count; i++) {
        const struct workload *workload = &workload_list[i];
        if (workload->takes_load)
            continue;
        const char *quote = workload->shorthand ? "\"" : "";
        printf("{\"schema\":1,\"workload\":\"%s\",\"shape_of\":\"%s\",\"lock\":%s,"
               "\"kind\":\"%s\","
               "\"threads_least\":%u,\"threads_most\":%u,\"unpinned\":%s,"
               "\"shorthand\":%s%s%s,\"summary\":\"%s\",\"knobs\":[",
               workload->name, workload->shape_of ? workload->shape_of : "",
               workload->takes_lock || workload->takes_rwlock ? "true" : "false",
               workload->takes_rwlock ? "rwlock" : "mutex", workload->threads_least,
               workload->threads_most, workload->unpinned ? "true" : "false", quote,
               workload->shorthand ? workload->shorthand : "null", quote,
               workload->summary);
        print_knobs(workload);
        printf("]}\n");
    }
}
