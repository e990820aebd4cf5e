/* SPDX-License-Identifier: MIT */
#include "profiler/confined.h"

#include "profiler/modules.h"
#include "profiler/process.h"
#include "profiler/sampler.h"
#include "profiler/switches.h"

struct atomic_u32 confined;

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
