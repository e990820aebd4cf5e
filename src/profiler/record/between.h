/* SPDX-License-Identifier: MIT */
/*
 * Measures the time from the release of an outermost lock to the thread's next
 * acquisition.
 *
 * A sampled hold is timed anyway. After its release, the thread's next acquisition also
 * takes the recorder's slow path, which reads the clock. Otherwise it is recorded as it
 * would have been.
 */
#ifndef HASP_PROFILER_RECORD_BETWEEN_H
#define HASP_PROFILER_RECORD_BETWEEN_H

#include "profiler/threads/recordings.h"

/* After the release of a sampled outermost hold; the caller is inside the recorder. */
void between_begins(struct recording *me, const struct record_hold *hold);

/* Restores the sampling rate's choice. With `acquires`, the thread is about to acquire
 * a lock, and the time is added to its sums. The caller is not inside. */
void between_end(struct recording *me, bool acquires);

/* Empties the records in a forked child. */
void between_forget(void);

static inline void between_ends(struct recording *me, bool acquires)
{
    if (unlikely(me->between_since != 0))
        between_end(me, acquires);
}

#endif
