/* SPDX-License-Identifier: MIT */
#include "simulator/wakeups.h"
#include "simulator/machine.h"

#include <stddef.h>

const char *wakeups_add(struct wakeups *wakeups, struct wakeup wakeup)
{
    const unsigned count = wakeups->count;
    if (count == WAKEUPS_MAX)
        return "there are too many";
    if (!count && wakeup.idle)
        return "the first idle time should be 0";
    if (count && wakeup.idle <= wakeups->entry[count - 1].idle)
        return "idle times should increase";
    wakeups->entry[wakeups->count++] = wakeup;
    return NULL;
}

struct wakeup wakeup_after(uint64_t idle)
{
    const struct wakeups *wakeups = &machine.wakeups;
    struct wakeup found = {0, machine.scheduler.futex_wake, machine.scheduler.waking};
    for (unsigned i = 0; i < wakeups->count && wakeups->entry[i].idle <= idle; i++)
        found = wakeups->entry[i];
    return found;
}

struct wakeup wakeup_in_turns(void)
{
    return wakeup_after(wakeup_after(0).futex_wake);
}
