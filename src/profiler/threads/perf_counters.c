/* SPDX-License-Identifier: MIT */
#include "profiler/threads/perf_counters.h"

#include "platform/native/counter_page.h"
#include "profiler/store/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    UNDER_WAY = 8,          /* sections of a thread in progress */
    CONTENDED_BY_PAGE = 16, /* one contended section in so many is counted */
    CONTENDED_BY_FILE = 64,
    TRIALS = 8,
    LOW_MOST = 16, /* descriptors below HIGH_DESCRIPTOR, of all threads */
};

struct thread_counter {
    const struct perf_event_mmap_page *page; /* or NULL */
    int file;                                /* or -1 */
    uint64_t id;                             /* the kernel's, identifies the file */
    uint32_t random;
    uint32_t last; /* index of the latest section in `from`; 0 is unused */
    uint64_t from[UNDER_WAY + 1];
};

static const struct event {
    const char *name; /* HASP_TRACE_COUNTER; without it, the first two are tried */
    uint32_t type;
    uint64_t config;
    enum trace_counter counter;
} events[] = {
    {"", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, TRACE_CACHE_MISSES},
    {"", PERF_TYPE_HW_CACHE,
     PERF_COUNT_HW_CACHE_LL | PERF_COUNT_HW_CACHE_OP_READ << 8 |
         PERF_COUNT_HW_CACHE_RESULT_MISS << 16,
     TRACE_LAST_LEVEL_MISSES},
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, TRACE_PAGE_FAULTS},
};

static const struct event *chosen; /* NULL: none */
static bool by_page;
static uint64_t reading_ticks; /* cost of one reading */
static struct atomic_u32 low;  /* descriptors below HIGH_DESCRIPTOR */

static long open_event(const struct event *event)
{
    struct perf_event_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.size = sizeof attributes;
    attributes.type = event->type;
    attributes.config = event->config;
    attributes.exclude_kernel = attributes.exclude_hv =
        1; /* user mode needs no privilege */
    return raw_syscall(SYS_perf_event_open, (long)&attributes, 0, -1, -1,
                       PERF_FLAG_FD_CLOEXEC, 0);
}

/* Returns false if the program has closed or replaced the descriptor. */
static bool is_ours(const struct thread_counter *counter)
{
    uint64_t id = 0;
    return raw_syscall(SYS_ioctl, counter->file, PERF_EVENT_IOC_ID, (long)&id, 0, 0,
                       0) == 0 &&
           id == counter->id;
}

static bool value_of(const struct thread_counter *counter, uint64_t *value)
{
    if (counter->page && counter_read_through(counter->page, read_counter, value))
        return true;
    return counter->file >= 0 && !load_relaxed(&system_calls_forbidden) &&
           is_ours(counter) &&
           raw_syscall(SYS_read, counter->file, (long)value, sizeof *value, 0, 0, 0) ==
               (long)sizeof *value;
}

static bool is_low(int file)
{
    return file >= 0 && file < HIGH_DESCRIPTOR;
}

/* Maps the event's page, and closes the file if the page is readable: the mapping keeps
 * the event alive. Returns false if the file would take one more of the low
 * descriptors, of which a program with many threads needs most: the usual limit is
 * 1024. */
static bool attach(struct thread_counter *counter, int file)
{
    uint64_t value;
    counter->file = -1;
    void *page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, file, 0);
    counter->page = page == MAP_FAILED ? NULL : page;
    if (counter->page && counter_read_through(counter->page, read_counter, &value)) {
        descriptor_close(file);
        return true;
    }
    if (counter->page)
        munmap(page, PAGE);
    counter->page = NULL;
    counter->file = descriptor_move_up(file);
    const bool spared = !is_low(counter->file) || fetch_add_relaxed(&low, 1) < LOW_MOST;
    return raw_syscall(SYS_ioctl, counter->file, PERF_EVENT_IOC_ID, (long)&counter->id,
                       0, 0, 0) == 0 &&
           spared;
}

static void detach(struct thread_counter *counter)
{
    if (counter->page)
        munmap((void *)(uintptr_t)counter->page, PAGE);
    if (counter->file >= 0 && is_ours(counter))
        descriptor_close(counter->file);
    if (is_low(counter->file))
        fetch_add_relaxed(&low, UINT32_MAX); /* subtract one */
    counter->page = NULL;
    counter->file = -1;
}

/* Returns the cost of the fastest of some readings. */
static uint64_t measure(const struct thread_counter *counter)
{
    uint64_t least = UINT64_MAX, value;
    for (unsigned i = 0; i < TRIALS; i++) {
        uint64_t began = ticks();
        value_of(counter, &value);
        uint64_t took = ticks() - began;
        if (took < least)
            least = took;
    }
    return least;
}

/* Opens the first event that is available. Returns its file, or -errno. */
static long choose(const char *wanted)
{
    long opened = -ECANCELED;
    for (unsigned i = 0; !chosen && i < sizeof events / sizeof events[0]; i++) {
        if (strcmp(events[i].name, wanted) != 0)
            continue;
        opened = open_event(&events[i]);
        if (opened >= 0)
            chosen = &events[i];
    }
    return opened;
}

void perf_counters_prepare(const char *wanted, bool filtered)
{
    struct thread_counter trial = {.file = -1};
    chosen = NULL;
    long opened = filtered ? -EPERM : choose(wanted);
    if (opened < 0) {
        trace->counter_error = (uint32_t)-opened;
        return;
    }
    if (attach(&trial, (int)opened)) {
        trace->counter = chosen->counter;
        by_page = trial.page != NULL;
        reading_ticks = measure(&trial);
    } else {
        trace->counter_error = EMFILE;
        chosen = NULL;
    }
    detach(&trial);
}

void perf_counters_thread_begins(struct recording *me)
{
    if (!chosen || load_relaxed(&system_calls_forbidden))
        return;
    struct thread_counter *counter = me->counter;
    if (!counter)
        counter = map_pages(sizeof *counter);
    if (!counter)
        return;
    counter->file = -1;
    counter->random = me->thread * 2654435761u | 1;
    long opened = open_event(chosen);
    me->counter = opened >= 0 && attach(counter, (int)opened) ? counter : NULL;
    if (!me->counter) {
        detach(counter);
        munmap(counter, sizeof *counter);
    }
}

void perf_counters_thread_ends(struct recording *me)
{
    if (!me->counter || load_relaxed(&system_calls_forbidden))
        return;
    detach(me->counter);
    munmap(me->counter, sizeof *me->counter);
    me->counter = NULL;
}

/* A child inherits the files, but not the pages. */
void perf_counters_forget(void)
{
    for (struct recording *one = recordings_first(); one; one = one->next)
        if (one->counter && one->counter->file >= 0 && is_ours(one->counter))
            descriptor_close(one->counter->file);
    store_relaxed(&low, 0);
    chosen = NULL;
}

static uint32_t contended_share(void)
{
    return by_page ? CONTENDED_BY_PAGE : CONTENDED_BY_FILE;
}

static bool is_due(struct thread_counter *counter, const struct record_hold *hold)
{
    if (hold->sampled)
        return true;
    counter->random = counter->random * 1664525u + 1013904223u; /* Knuth's LCG */
    return (counter->random >> 16) % contended_share() == 0;
}

void perf_counters_section_begins(struct recording *me, struct record_hold *hold)
{
    struct thread_counter *counter = me->counter;
    uint64_t value;
    if (!is_due(counter, hold) || !value_of(counter, &value))
        return;
    counter->last = counter->last % UNDER_WAY + 1;
    counter->from[counter->last] = value;
    hold->section = (uint8_t)counter->last;
    hold->overhead += reading_ticks;
}

void perf_counters_section_ends(struct recording *me, const struct record_hold *hold)
{
    const struct thread_counter *counter = me->counter;
    uint64_t value;
    if (!counter || !value_of(counter, &value))
        return;
    const uint64_t weight = hold->sampled ? hold->weight : contended_share();
    hold->use->cache_misses += (value - counter->from[hold->section]) * weight;
    hold->use->counted_sections += weight;
}
