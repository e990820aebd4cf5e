/* SPDX-License-Identifier: MIT */
#include "library/delegate.h"

#include "delegation/list/descriptor.h"
#include "delegation/watch.h"
#include "platform/xorshift.h"

#include <errno.h>

/* Of libhasp-profile.so, which is loaded before the program. */
extern const struct delegation_watcher *find_watcher(void) __asm__(DELEGATION_WATCHER)
    __attribute__((weak));

static const struct delegation_watcher *watcher(void)
{
    return find_watcher ? find_watcher() : NULL;
}

static void report_counts(const struct delegate *delegate,
                          struct delegation_report *report)
{
    const struct delegate_counts *counts = &delegate->counts;
    const uint64_t alone = load_relaxed(&counts->alone);
    report->sections = alone + load_relaxed(&counts->sections);
    report->holds = alone + load_relaxed(&counts->holds);
    report->longest = load_relaxed(&counts->longest);
    if (!report->longest && alone)
        report->longest = 1;
    const struct server *host = delegate_server(delegate);
    if (!host)
        return;
    const struct server_counts *server = &host->counts;
    report->server_executor = server_is_of(host, SERVER_RCL) ? "rcl" : "ffwd";
    report->server_place = host->place;
    report->server_number = host->place % SERVERS_MOST;
    report->server_sections = load_relaxed(&server->sections);
    report->rounds = load_relaxed(&server->rounds);
    report->lines = load_relaxed(&server->lines);
    report->serialised = load_relaxed(&server->serialised);
    report->replaced = load_relaxed(&server->replaced);
}

int delegate_prepare(struct delegate *delegate, const char *name)
{
    const struct lock_operations *lock = NULL;
    uint32_t server = 0;
    int index = name ? executor_find_at(name, &lock, &server) : (int)executor_default;
    if (index < 0)
        return EINVAL;
    if (!delegate_init_at(delegate, (unsigned)index, lock, server))
        return ENOMEM;
    const struct delegation_watcher *watching = watcher();
    if (watching)
        delegate->watched =
            watching->created(delegate, index ? executor_list[index].about.name : name,
                              __builtin_return_address(0));
    return 0;
}

/* A section whose times are reported. */
struct watched_section {
    struct delegate *delegate;
    void *(*section)(void *);
    void *context;
    uint64_t asked, bytes;
    uint32_t stands_for;
};

/* Sections of the thread until the next one that is reported, of objects of which not
 * all are, and a random number. */
static __thread struct {
    uint32_t left, random;
} pause __attribute__((tls_model("initial-exec")));

/* Returns whether the section need not be reported. */
static bool may_skip(struct delegate *delegate)
{
    if (!pause.left || load_relaxed(&delegate->period) <= 1)
        return false;
    pause.left--;
    return true;
}

/* Returns how many sections the next one stands for. They are chosen at random, so that
 * a periodic program cannot evade it. */
static uint32_t choose(const struct delegate *delegate)
{
    const uint32_t period = load_relaxed(&delegate->period);
    if (period <= 1)
        return 1;
    pause.random = xorshift32(pause.random ? pause.random : (uint32_t)ticks() | 1);
    pause.left = pause.random % (2 * period - 1);
    return period;
}

static void *execute_watched(void *argument)
{
    const struct watched_section *own = argument;
    struct delegation_report report = {
        .asked = own->asked, .bytes = own->bytes, .stands_for = own->stands_for};
    report.began = ticks();
    void *result = own->section(own->context);
    report.ended = ticks();
    report_counts(own->delegate, &report);
    const uint32_t period = watcher()->executed(own->delegate->watched, &report);
    if (period != load_relaxed(&own->delegate->period))
        store_relaxed(&own->delegate->period, period);
    return result;
}

static __attribute__((noinline)) void *
call_watched(struct delegate *delegate, void *(*section)(void *), void *context,
             size_t bytes)
{
    struct watched_section own = {.delegate = delegate,
                                  .section = section,
                                  .context = context,
                                  .bytes = bytes,
                                  .stands_for = choose(delegate)};
    own.asked = ticks();
    return executor_operations_of(delegate)->run(delegate, execute_watched, &own);
}

void *delegate_call_sized(struct delegate *delegate, void *(*section)(void *),
                          void *context, size_t bytes)
{
    if (likely(!delegate->watched) || likely(may_skip(delegate)))
        return executor_operations_of(delegate)->run(delegate, section, context);
    return call_watched(delegate, section, context, bytes);
}

void *delegate_call(struct delegate *delegate, void *(*section)(void *), void *context)
{
    return delegate_call_sized(delegate, section, context, 0);
}

void delegate_give_up(struct delegate *delegate)
{
    const uint32_t watched = delegate->watched;
    struct delegation_report last = {.bytes = 0};
    if (watched)
        report_counts(delegate, &last);
    executor_operations_of(delegate)->destroy(delegate);
    if (watched)
        watcher()->destroyed(watched, &last);
}

const char *delegate_listed_name(unsigned index)
{
    return index + 1 < executor_list_length ? executor_list[index + 1].about.name
                                            : NULL;
}
