/* SPDX-License-Identifier: MIT */
#include "profiler/threads/hold_log.h"

bool hold_log_begin(struct recording *thread)
{
    if (!thread->log) {
        struct hold_log *log = map_pages(sizeof *log);
        if (!log)
            return false;
        thread->log = log; /* it stays: the thread may be about to write to it */
    }
    store_relaxed(&thread->log->used, 0);
    store_release(&thread->log->active, 1);
    return true;
}

void hold_log_end(struct recording *thread)
{
    store_relaxed(&thread->log->active, 0);
}

bool hold_log_contains(const struct recording *thread, uint32_t lock, uint64_t time)
{
    const struct hold_log *log = thread->log;
    const uint32_t used = load_acquire(&log->used); /* pairs with hold_log_write */
    for (uint32_t i = 0; i < used && i < HOLD_LOG_HOLDS; i++)
        if (log->hold[i].lock == lock && log->hold[i].got <= time &&
            time <= log->hold[i].released)
            return true;
    return false;
}

void hold_log_write(struct hold_log *log, uint32_t lock, uint64_t got,
                    uint64_t released)
{
    const uint32_t used = load_relaxed(&log->used);
    if (used >= HOLD_LOG_HOLDS)
        return;
    log->hold[used] = (struct logged_hold){got, released, lock};
    store_release(&log->used, used + 1);
}
