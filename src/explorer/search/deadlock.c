/* SPDX-License-Identifier: MIT */
#include "explorer/search/deadlock.h"

#include "explorer/base/model.h"
#include "explorer/base/names.h"
#include "explorer/base/verdict.h"
#include "explorer/memory/locations.h"
#include "explorer/memory/messages.h"

#include <stdio.h>

void report_deadlock(void)
{
    char text[400] = "";
    size_t used = 0;
    for (int t = 0; t < THREADS; t++) {
        const struct thread *thread = &model.thread[t];
        if (!is_live(t) || used >= sizeof text)
            continue;
        const struct request *request = &thread->request;
        if (request->operation == OP_ASLEEP) {
            uint64_t value =
                message_of(request->cell, message_count(request->cell) - 1)->value;
            used += (size_t)snprintf(
                text + used, sizeof text - used,
                "; thread %d sleeps on %s, which holds %d", t,
                cell_name(location_of_index(request->cell)->address), (int)value);
            continue;
        }
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "; thread %d waits in %s",
                             t, request->function ? request->function : "?");
        for (unsigned i = 0; i < thread->reads && used < sizeof text; i++)
            used += (size_t)snprintf(
                text + used, sizeof text - used, "%s%s (%d)", i ? ", " : " for ",
                cell_name(known.location[thread->read[i].location].address),
                (int)thread->read[i].value);
    }
    fail("deadlock", "no thread can continue%s", text);
}
