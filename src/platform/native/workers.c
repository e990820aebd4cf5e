/* SPDX-License-Identifier: MIT */
/* Workers are threads pinned to their CPU; cycles are those of the time-stamp counter.
 * */
#include "platform/workers.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum {
    WORKERS_MAX = 4096,
    MEETING_SPINS = 2000, /* then a worker sleeps: another may need its CPU */
    CALIBRATE_NS = 20000000,
    CLOCK_READINGS = 20,
    HUGE_PAGE = 2 << 20,
    LINE = 64, /* bytes per transfer; CACHE_LINE is two of them */
};

enum gate { CLOSED, OPEN, CANCELLED };

struct crew {
    void (*body)(unsigned, void *);
    void *argument;
    struct atomic_u32 gate;
};

struct worker {
    struct crew *crew;
    unsigned index;
    pthread_t thread;
};

static char error[160];

bool use_machine(const char *path)
{
    snprintf(error, sizeof error,
             "cannot simulate the machine in %s: this program measures the machine it "
             "runs on",
             path);
    return false;
}

bool workers_take_turns(void)
{
    return false;
}

const char *machine_name(void)
{
    return "this host";
}

const char *workers_error(void)
{
    return error;
}

void use_park_cost(uint32_t ns, bool measured)
{
    spinning_set_park_cost(measured ? ns : 0);
}

static void *worker_run(void *pointer)
{
    struct worker *worker = pointer;
    struct crew *crew = worker->crew;
    while (load_acquire(&crew->gate) == CLOSED)
        park(&crew->gate, CLOSED, NULL);
    if (load_acquire(&crew->gate) == OPEN)
        crew->body(worker->index, crew->argument);
    return NULL;
}

static int pin(pthread_attr_t *attributes, int cpu)
{
    size_t bytes = CPU_ALLOC_SIZE(cpu + 1);
    cpu_set_t *one = CPU_ALLOC(cpu + 1);
    if (!one)
        return ENOMEM;
    CPU_ZERO_S(bytes, one);
    CPU_SET_S(cpu, bytes, one);
    int refusal = pthread_attr_setaffinity_np(attributes, bytes, one);
    CPU_FREE(one);
    return refusal;
}

/* The thread is created on its CPU, so that it never runs elsewhere. */
static bool start_worker(struct worker *worker, int cpu)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    int refusal = cpu >= 0 ? pin(&attributes, cpu) : 0;
    if (!refusal)
        refusal = pthread_create(&worker->thread, &attributes, worker_run, worker);
    pthread_attr_destroy(&attributes);
    if (refusal && cpu >= 0)
        snprintf(error, sizeof error, "cannot use CPU %d: %s", cpu,
                 refusal == EINVAL ? "it is offline, or not in the affinity mask"
                                   : strerror(refusal));
    else if (refusal)
        snprintf(error, sizeof error, "cannot create a thread: %s", strerror(refusal));
    return refusal == 0;
}

bool run_workers(unsigned count, const int *cpus, void (*body)(unsigned, void *),
                 void *argument)
{
    static struct worker workers[WORKERS_MAX];
    struct crew crew = {.body = body, .argument = argument};
    if (count > WORKERS_MAX) {
        snprintf(error, sizeof error, "%u workers are more than %d", count,
                 WORKERS_MAX);
        return false;
    }
    unsigned started = 0;
    while (started < count) {
        struct worker *worker = &workers[started];
        *worker = (struct worker){.crew = &crew, .index = started};
        if (!start_worker(worker, cpus ? cpus[started] : -1))
            break;
        started++;
    }
    store_release(&crew.gate, started == count ? OPEN : CANCELLED);
    unpark(&crew.gate, (uint32_t)started);
    for (unsigned i = 0; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    return started == count;
}

/* Returns the system clock and stores in `at` the counter at that moment. Of several
 * readings it uses the one with the fewest cycles around it. */
static uint64_t clock_at(uint64_t *at)
{
    uint64_t best_ns = 0, shortest = UINT64_MAX;
    for (int i = 0; i < CLOCK_READINGS; i++) {
        uint64_t before = cycles_ordered(), ns = now_ns(), after = cycles_ordered();
        if (after - before < shortest) {
            shortest = after - before;
            best_ns = ns;
            *at = before + shortest / 2;
        }
    }
    return best_ns;
}

uint64_t cycles_per_second(void)
{
    static struct atomic_u64 known;
    uint64_t rate = load_relaxed(&known);
    if (rate)
        return rate;
    uint64_t from = 0, to = 0;
    uint64_t start_ns = clock_at(&from);
    while (now_ns() - start_ns < CALIBRATE_NS)
        relax();
    uint64_t ns = clock_at(&to) - start_ns;
    rate = (uint64_t)((double)(to - from) * 1e9 / (double)ns);
    store_relaxed(&known, rate);
    return rate;
}

uint64_t ticks_aside(void)
{
    return ticks();
}

void pause_cycles(uint64_t cycles)
{
    uint64_t from = ticks();
    while (ticks() - from < cycles)
        ;
}

#if defined(__x86_64__)
/* RDTSCP waits for all earlier loads and locked operations; LFENCE keeps later ones
 * from starting before it. */
uint64_t cycles_ordered(void)
{
    uint32_t low, high, processor;
    __asm__ volatile("rdtscp\n\tlfence"
                     : "=a"(low), "=d"(high), "=c"(processor)
                     :
                     : "memory");
    return (uint64_t)high << 32 | low;
}

void full_fence(void)
{
    __asm__ volatile("mfence" ::: "memory");
}

bool evict_line(const void *address)
{
    __asm__ volatile("mfence\n\tclflush %0\n\tmfence"
                     :
                     : "m"(*(const char *)address)
                     : "memory");
    return true;
}
#else
/* DSB waits for all earlier accesses; ISB keeps the counter from being read early. */
uint64_t cycles_ordered(void)
{
    uint64_t count;
    __asm__ volatile("dsb ish\n\tisb\n\tmrs %0, cntvct_el0\n\tisb"
                     : "=r"(count)
                     :
                     : "memory");
    return count;
}

void full_fence(void)
{
    __asm__ volatile("dsb ish" ::: "memory");
}

bool evict_line(const void *address)
{
    __asm__ volatile("dsb ish\n\tdc civac, %0\n\tdsb ish" ::"r"(address) : "memory");
    return true;
}
#endif

void access_ahead(const void *address, bool writes)
{
    (void)address, (void)writes;
}

void touch_lines(void *base, unsigned lines)
{
    for (unsigned i = 0; i < lines; i++) {
        volatile char *line = (volatile char *)base + (size_t)i * LINE;
        *line = (char)(*line + 1);
    }
}

/* A kernel without NUMA rejects the policy, but has only one node anyway. Huge pages
 * keep the cost of address translation out of measurements on large memory. */
void *shared_pages(size_t bytes, int node)
{
    void *pages = map_pages(bytes);
    if (!pages)
        return NULL;
    if (node >= 0 && node < 64) {
        unsigned long mask = 1ul << node;
        raw_syscall(SYS_mbind, (long)pages, (long)bytes, MPOL_PREFERRED, (long)&mask,
                    sizeof mask * 8 + 1, 0);
    }
    if (bytes >= HUGE_PAGE)
        madvise(pages, bytes, MADV_HUGEPAGE);
    return pages;
}

void arrive_together(struct meeting *meeting, uint32_t count)
{
    uint32_t generation = load_acquire(&meeting->generation);
    if (fetch_add_acq_rel(&meeting->arrived, 1) + 1 == count) {
        store_relaxed(&meeting->arrived, 0);
        store_release(&meeting->generation, generation + 1);
        unpark(&meeting->generation, count);
        return;
    }
    for (int i = 0; i < MEETING_SPINS; i++) {
        if (load_acquire(&meeting->generation) != generation)
            return;
        relax();
    }
    while (load_acquire(&meeting->generation) == generation)
        park(&meeting->generation, generation, NULL);
}

void platform_counts_now(struct platform_counts *counts)
{
    *counts = (struct platform_counts){.known = false};
}
