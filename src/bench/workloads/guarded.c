/* SPDX-License-Identifier: MIT */
#include "bench/workloads/guarded.h"

struct section section_of(const struct run *run)
{
    return (struct section){
        .lines = run->knobs[KNOB_CS_LINES],
        .cycles = run_cycles(run, KNOB_CS_CYCLES, KNOB_CS_NS),
        .think = run_cycles(run, KNOB_THINK_CYCLES, KNOB_THINK_NS),
        .jitter = run->knobs[KNOB_JITTER],
        .drain = run->knobs[KNOB_DRAIN] != 0,
    };
}

void guarded_create(void *all, uint64_t count, uint64_t lines)
{
    for (uint64_t i = 0; i < count; i++)
        mutex_create(&guarded_at(all, lines, i)->mutex);
}

bool guarded_check(struct run *run, void *all, uint64_t count, uint64_t lines,
                   uint64_t holds)
{
    uint64_t done = 0;
    for (unsigned i = 0; i < run->threads; i++)
        done += run->workers[i].operations_ever * holds;
    for (uint64_t line = 0; line < lines; line++) {
        uint64_t counted = 0;
        for (uint64_t i = 0; i < count; i++)
            counted += load_relaxed(&guarded_at(all, lines, i)->lines[line].count);
        if (counted != done) {
            explain(run, "the lock does not exclude: %llu of %llu updates were lost",
                    (unsigned long long)(done - counted), (unsigned long long)done);
            return false;
        }
    }
    return true;
}
