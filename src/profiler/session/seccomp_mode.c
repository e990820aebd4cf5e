/* SPDX-License-Identifier: MIT */
#include "profiler/session/seccomp_mode.h"

#include "profiler/store/modules.h"
#include "profiler/session/session.h"
#include "profiler/sample/sampler.h"
#include "profiler/threads/preemption.h"

void confined_begins(void)
{
    if (record_here.inside)
        return;
    process_needs_file();
    if (process_is_active())
        file_hoard();
    if (exchange_relaxed(&confined, 1) || !process_is_active())
        return;
    record_here.inside++;
    modules_look();
    sampler_stop();
    switches_long_ticks = switches_fresh_ticks = UINT64_MAX;
    record_here.inside--;
}
