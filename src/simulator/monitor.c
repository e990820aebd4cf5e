/* SPDX-License-Identifier: MIT */
#include "simulator/monitor.h"
#include "simulator/requests.h"
#include "simulator/stores.h"

/* The value changes at once, as nothing waits for the monitor. Those that wait for the
 * line read it once their request has been served after this one. */
void monitor_writes(const struct thread *thread, void *cell, uint32_t value,
                    uint64_t now)
{
    struct line *line = line_used(line_of(cell), thread);
    const bool owned = writable_at(line, thread, now) == now;
    if (!owned)
        request(line, thread, MACHINE_FETCH_ADD, now);
    write_cell(thread, line, cell, sizeof value, value, now);
    if (owned)
        watchers_miss(line, thread, now);
}
