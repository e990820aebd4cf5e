/* SPDX-License-Identifier: MIT */
/* What the library of the program reports about its delegates (delegation/watch.h). */
#include "delegation/watch.h"

#include "preload/profile/next.h"
#include "profiler/session/record_delegated.h"

#include <string.h>

static struct record_delegate_sums sums_of(const struct delegation_report *report)
{
    struct record_delegate_sums sums = {
        .held_sections = report->sections,
        .holds = report->holds,
        .held_most = report->longest,
    };
    if (!report->server_executor || report->server_place >= RECORD_HOSTS)
        return sums;
    sums.host = report->server_place + 1;
    sums.server = (struct trace_server){
        .number = report->server_number,
        .sections = report->server_sections,
        .rounds = report->rounds,
        .lines = report->lines,
        .serialised = report->serialised,
        .replaced = report->replaced,
    };
    strncpy(sums.server.executor, report->server_executor,
            sizeof sums.server.executor - 1);
    return sums;
}

static uint32_t executed(uint32_t number, const struct delegation_report *report)
{
    const struct record_delegate_sums sums = sums_of(report);
    /* Counters of two CPUs may differ a little. */
    const struct record_section section = {
        .waited = report->began > report->asked ? report->began - report->asked : 0,
        .took = report->ended - report->began,
        .bytes = report->bytes,
        .stands_for = report->stands_for,
    };
    return record_delegated(number, &section, &sums);
}

static void destroyed(uint32_t number, const struct delegation_report *report)
{
    const struct record_delegate_sums sums = sums_of(report);
    record_delegate_ended(number, &sums);
}

EXPORT const struct delegation_watcher *watch(void) __asm__(DELEGATION_WATCHER);

const struct delegation_watcher *watch(void)
{
    static const struct delegation_watcher watcher = {record_delegate, executed,
                                                      destroyed};
    return &watcher;
}
