/* SPDX-License-Identifier: MIT */
#include "profiler/store/sharing.h"

enum { SPINS = 100, LOST_NS = 1000000000 };

/* Whoever has it for a second will not give it back: the thread was cancelled in the
 * middle, or a signal's handler has jumped out. A record may be spoilt by going on; the
 * program would hang otherwise. */
void brief_lock(struct atomic_u32 *busy)
{
    uint64_t began = 0;
    for (uint32_t spins = 0; exchange_acquire(busy, 1); spins++) {
        if (spins < SPINS) {
            relax();
            continue;
        }
        yield();
        uint64_t now = now_ns();
        if (spins == SPINS)
            began = now;
        else if (now - began > LOST_NS)
            return;
    }
}

void brief_unlock(struct atomic_u32 *busy)
{
    store_release(busy, 0);
}
