/* SPDX-License-Identifier: MIT */
/* hasp-bench-transactions: runs one program, its steps made atomic in one way, and
 * prints a JSON line. Exit status 1 if its data are wrong afterwards. */
#include "bench/transactions/subject.h"

#include "bench/burst_options.h"

#include <stdio.h>
#include <string.h>

enum { EXIT_WRONG = 1, EXIT_USAGE = 2 };

static const char *const programs[] = {"bank", "list", "table", "mapreduce"};
static const char *const causes[] = {
    "load_locked", "load_changed",     "commit_locked",    "commit_changed",
    "closed",      "read_after_write", "write_after_read", "write_after_write"};

struct run {
    const struct subject *subject;
    struct burst_options options; /* percent: of read-alls or updates */
    enum program program;
    struct load loads[BURST_THREADS];
};

static struct subject *subjects;
static struct run run = {
    .options = {.elements = 1024, .burst = {.threads = 2, .milliseconds = 100}},
    .program = PROGRAMS};

void subject_add(struct subject *subject)
{
    subject->next = subjects;
    subjects = subject;
}

static void work(unsigned index)
{
    run.subject->work(&run.loads[index]);
}

static void print_aborts(void)
{
    uint64_t alone = 0, most = 0;
    if (!run.loads[0].counts_aborts)
        return;
    fputs(",\"aborts\":{", stdout);
    for (int cause = 0; cause < CAUSES; cause++) {
        uint64_t count = 0;
        for (uint64_t i = 0; i < run.options.burst.threads; i++)
            count += run.loads[i].aborts[cause];
        printf("%s\"%s\":%llu", cause ? "," : "", causes[cause],
               (unsigned long long)count);
    }
    for (uint64_t i = 0; i < run.options.burst.threads; i++) {
        alone += run.loads[i].alone;
        if (run.loads[i].most_retries > most)
            most = run.loads[i].most_retries;
    }
    printf("},\"alone\":%llu,\"most_retries\":%llu", (unsigned long long)alone,
           (unsigned long long)most);
}

/* Returns whether the data are right. */
static bool print(void)
{
    uint64_t all = 0, least = UINT64_MAX, wrong = 0;
    int64_t inserted = 0;
    for (uint64_t i = 0; i < run.options.burst.threads; i++) {
        const struct load *load = &run.loads[i];
        all += load->transactions;
        least = load->transactions < least ? load->transactions : least;
        wrong += load->wrong;
        inserted += load->inserted;
    }
    bool right = wrong == 0 && run.subject->check(run.program, inserted);
    printf("{\"schema\":\"hasp.transaction/1\",\"subject\":\"%s\",\"lock\":\"%s\","
           "\"program\":\"%s\",\"threads\":%llu,\"elements\":%llu,\"percent\":%llu,"
           "\"transactions\":%llu,\"mtps\":%.3f,\"least_share\":%.3f,\"right\":%s",
           run.subject->name, run.options.lock ? run.options.lock : "",
           programs[run.program], (unsigned long long)run.options.burst.threads,
           (unsigned long long)run.options.elements,
           (unsigned long long)run.options.percent, (unsigned long long)all,
           (double)all * 1e3 / (double)run.options.burst.elapsed_ns,
           all ? (double)least * (double)run.options.burst.threads / (double)all : 0,
           right ? "true" : "false");
    print_aborts();
    puts("}");
    return right;
}

static int usage(void)
{
    fputs("usage: hasp-bench-transactions --subject NAME\n"
          "           --program bank|list|table|mapreduce [--lock NAME] [--threads N]\n"
          "           [--elements N] [--percent N] [--milliseconds N] | --list\n",
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
    return run.subject->prepare(run.program, run.options.elements, run.options.lock);
}

static int measure(void)
{
    struct burst *burst = &run.options.burst;
    if (!burst_prepare(burst, prepare)) {
        fputs("hasp-bench-transactions: the program cannot run with these options\n",
              stderr);
        return EXIT_USAGE;
    }
    for (unsigned i = 0; i < burst->threads; i++)
        run.loads[i] =
            (struct load){.stop = &burst->stop,
                          .program = run.program,
                          .elements = run.options.elements,
                          .percent = (uint32_t)(run.options.percent * DICE / 100),
                          .random = 12345 + 7919 * i};
    if (!burst_run(burst, work)) {
        fprintf(stderr, "hasp-bench-transactions: %s\n", workers_error());
        return EXIT_USAGE;
    }
    return print() ? 0 : EXIT_WRONG;
}

/* Returns PROGRAMS if there is none of this name. */
static enum program program_of(const char *name)
{
    int program = 0;
    while (program < PROGRAMS && strcmp(programs[program], name) != 0)
        program++;
    return (enum program)program;
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
                                            {"percent", 1, NULL, 'u'},
                                            {"program", 1, NULL, 'p'},
                                            {NULL, 0, NULL, 0}};
    int option;
    while ((option = getopt_long(count, words, "", options, NULL)) != -1)
        if (option == 'p')
            run.program = program_of(optarg);
        else if (!burst_option(&run.options, option))
            return usage();
    if (run.options.lists)
        return list();
    run.subject = run.options.subject ? subject_find(run.options.subject) : NULL;
    bool good = run.subject && run.program < PROGRAMS && run.options.elements > 1 &&
                burst_options_valid(&run.options);
    return good ? measure() : usage();
}
