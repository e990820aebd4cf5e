/* SPDX-License-Identifier: MIT */
#include "profiler/session/seccomp_mode.h"

#include "profiler/store/modules.h"
#include "profiler/session/session.h"
#include "profiler/sample/sampler.h"
#include "profiler/threads/preemption.h"

void seccomp_mode_begins(void)
{
    if (record_here.inside)
        return;
    session_needs_file();
    if (session_is_active())
        trace_file_reserve();
    if (exchange_relaxed(&system_calls_forbidden, 1) || !session_is_active())
        return;
    record_here.inside++;
    modules_scan();
    sampler_stop();
    preemption_long_ticks = preemption_fresh_ticks = UINT64_MAX;
    record_here.inside--;
}
