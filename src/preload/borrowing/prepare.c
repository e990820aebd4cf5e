/* SPDX-License-Identifier: MIT */
/* Decides whether this process can borrow sections, and writes the statistics. */
#include "preload/borrowing/borrowing.h"
#include "preload/borrowing/functions.h"
#include "preload/borrowing/signals.h"
#include "preload/borrowing/thread.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The size of glibc's area for restartable sequences; 0 if it registered none. */
extern const unsigned int __rseq_size __attribute__((weak));

static const char *const runtimes[] = {"__tsan_init", "__asan_init", "__hwasan_init",
                                       "__msan_init"};

/* Returns why sections cannot be borrowed in this process, or NULL. */
static const char *obstacle(const char *preloaded)
{
    const char *why = registers_obstacle();
    if (why)
        return why;
    if (&__rseq_size && __rseq_size)
        return "glibc has registered restartable sequences, which belong to the "
               "kernel's thread: set GLIBC_TUNABLES=glibc.pthread.rseq=0, as `hasp "
               "run` does";
    if (preloaded && strstr(preloaded, "vgpreload"))
        return "valgrind follows one stack for each thread";
    for (unsigned i = 0; i < sizeof runtimes / sizeof runtimes[0]; i++)
        if (dlsym(RTLD_DEFAULT, runtimes[i]))
            return "a sanitizer follows one stack for each thread";
    return NULL;
}

static const char *statistics_file;

__attribute__((destructor)) static void write_statistics(void)
{
    if (!statistics_file)
        return;
    const struct borrow_counts counts = borrow_counts();
    char line[160];
    int length = snprintf(line, sizeof line,
                          "{\"schema\":\"hasp.borrowing/1\",\"pid\":%d,"
                          "\"borrowed\":%llu,\"handed_back\":%llu,"
                          "\"interrupted\":%llu}\n",
                          (int)getpid(), (unsigned long long)counts.unlocked,
                          (unsigned long long)counts.handed_back,
                          (unsigned long long)counts.interrupted);
    int file = open(statistics_file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0 || write(file, line, (size_t)length) != length)
        complain("cannot write HASP_BORROWING_STATISTICS: ", statistics_file);
    if (file >= 0)
        close(file);
}

void borrow_prepare(struct borrow_environment with)
{
    if (with.off && strcmp(with.off, "never") == 0)
        return;
    const char *why = obstacle(with.preloaded);
    if (why) {
        complain("delegate grants in order and borrows no section: ", why);
        return;
    }
    if (with.statistics && *with.statistics)
        statistics_file = with.statistics;
    if (with.slice_ms && atol(with.slice_ms) > 0)
        borrow_slice_ns = (uint64_t)atol(with.slice_ms) * 1000000;
    borrow_find_functions();
    borrow_watch_threads();
    borrow_watch_signals();
    store_relaxed(&borrowing, 1); /* there is only one thread yet */
}
