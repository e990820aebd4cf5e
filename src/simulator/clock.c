/* SPDX-License-Identifier: MIT */
#include "simulator/clock.h"
#include "simulator/event_loop.h"
#include "simulator/scheduler.h"

static const uint64_t NS_PER_S = 1000000000, NS_PER_MS = 1000000;

static uint64_t scaled(uint64_t value, uint64_t by, uint64_t per)
{
    return value / per * by + value % per * by / per;
}

uint64_t ns_of_cycles(uint64_t cycles)
{
    return scaled(cycles, NS_PER_MS, machine.clock_khz);
}

uint64_t cycles_of_deadline(const struct deadline *deadline)
{
    const uint64_t never_s = UINT64_C(1) << 28; /* nine years */
    if (deadline->at.tv_sec < 0)
        return 0;
    if ((uint64_t)deadline->at.tv_sec >= never_s)
        return UINT64_MAX;
    uint64_t ns =
        (uint64_t)deadline->at.tv_sec * NS_PER_S + (uint64_t)deadline->at.tv_nsec;
    return scaled(ns, machine.clock_khz, NS_PER_MS) + 1;
}

static uint64_t read_time(void)
{
    struct thread *self = running;
    if (!self)
        return time_outside;
    self->now += machine.local.timer;
    if (self->read_clock) /* twice without waiting in between: the thread is busy */
        progress_at = later(progress_at, self->now);
    self->read_clock = true;
    if (__builtin_expect(scheduler_shares, 0))
        catch_up(self); /* the thread may have lost its CPU at the end of its slice */
    return self->now;
}

uint64_t simulated_now_ns(void)
{
    return ns_of_cycles(read_time());
}

uint64_t simulated_ticks(void)
{
    return read_time();
}

uint64_t simulated_ticks_to_ns(uint64_t ticks)
{
    return ns_of_cycles(ticks);
}

bool simulated_deadline_passed(const struct deadline *deadline)
{
    uint64_t at = cycles_of_deadline(deadline);
    if (read_time() >= at)
        return true;
    progress_at = later(progress_at, at); /* the thread continues then at the latest */
    return false;
}
