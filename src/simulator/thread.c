/* SPDX-License-Identifier: MIT */
#include "simulator/thread.h"

struct thread *running;
struct thread thread_table[THREADS_MAX];
unsigned thread_count;
uint64_t time_outside = 1000000; /* not 0, which locks may take for "never" */
uint64_t run_started;
uint64_t progress_at;

void set_timeout(struct thread *thread, uint64_t time)
{
    thread->timeout_at = time;
    if (time < thread->timeout_due) {
        thread->timeout_due = time;
        event_push(time, EVENT_TIMEOUT, thread->index);
    }
}
