/* SPDX-License-Identifier: MIT */
#include "preload/elision.h"

#include "elision/backend.h"
#include "elision/elide.h"
#include "elision/global.h"
#include "elision/list.h"
#include "elision/rwlock_list.h"
#include "elision/statistics.h"
#include "elision/thread.h"
#include "elision/watch.h"
#include "preload/dispatch.h"
#include "preload/plan.h"
#include "preload/real.h"

#include <string.h>
#include <unistd.h>

unsigned elision_in_use(unsigned chosen)
{
    if (is_elided(chosen))
        return chosen;
    for (unsigned i = 0; i < plan.entries; i++)
        if (plan.entry[i].kind == PLAN_MUTEX && is_elided(plan.entry[i].slot - 1u))
            return plan.entry[i].slot - 1u;
    return 0;
}

bool elision_wanted(unsigned chosen)
{
    return elision_in_use(chosen) != 0;
}

__attribute__((noreturn)) static void refuse(const char *variable, const char *wrong)
{
    complain(variable, wrong);
    _exit(2);
}

/* Returns the index of an elided rwlock that this process uses, or 0. */
static unsigned rwlock_in_use(unsigned chosen)
{
    if (is_elided_rwlock(chosen))
        return chosen;
    for (unsigned i = 0; i < plan.entries; i++)
        if (plan.entry[i].kind == PLAN_RWLOCK &&
            is_elided_rwlock(plan.entry[i].slot - 1u))
            return plan.entry[i].slot - 1u;
    return 0;
}

static void tell(const char *elided, const char *inner, char *note)
{
    if (note && note[0] == '0')
        return;
    char text[320] = "";
    strcat(text, elision_hardware_text(elision_probe().hardware));
    strcat(text, ": ");
    strcat(text, elided);
    strcat(text, elision_settings.global ? " runs as one lock for all mutexes, not "
                                           "elided: "
                                         : " runs as ");
    complain(text, inner);
    if (note && note[0])
        note[0] = '0'; /* children inherit these bytes */
}

static bool is_used; /* locks are elided in this process */
/* So may be those whose algorithm is not resolved yet. */
static bool is_default, is_default_rwlock;

/* See elision/watch.h. Mutexes with an owner are never elided. */
static bool covers(const struct lock *lock)
{
    const int type = lock->kind & KIND_TYPE;
    if (lock->kind & ~KIND_OURS || (type != KIND_NORMAL && type != KIND_ADAPTIVE))
        return false;
    const unsigned slot = load_relaxed(&lock->algorithm);
    return slot == DISPATCH_DEFAULT ? is_default : is_elided(slot - 1);
}

static bool covers_rwlock(const struct lock *lock)
{
    const struct rwlock *rwlock = (const struct rwlock *)(const void *)lock;
    if (rwlock->shared)
        return false;
    const unsigned slot = load_relaxed(&rwlock->algorithm);
    return slot ? is_elided_rwlock(slot - 1) : is_default_rwlock; /* rwlock.h */
}

static bool elides(const struct lock *lock)
{
    return elision_place(elision_thread(), lock) >= 0;
}

static const char *back_end_name(void)
{
    return elision_backend()->name;
}

EXPORT const struct elision_watched *
hasp_elision_watch(const struct elision_watcher *watcher);

const struct elision_watched *hasp_elision_watch(const struct elision_watcher *watcher)
{
    static const struct elision_watched watched = {
        elision_depth, elides, covers, covers_rwlock, back_end_name, htm_emulated};
    startup();
    if (!is_used)
        return NULL;
    elision_watcher = watcher;
    elision_settings.timed = true;
    return &watched;
}

static const char *statistics_file;

__attribute__((destructor)) static void write_statistics(void)
{
    if (statistics_file)
        elision_statistics_write(statistics_file);
    if (elision_settings.global)
        global_report();
}

bool elision_prepare(unsigned chosen, unsigned rwlock, struct elision_environment with)
{
    const unsigned index = elision_in_use(chosen), other = rwlock_in_use(rwlock);
    if (!index && !other)
        return false;
    const char *wrong = elision_choose(with.back_end);
    if (wrong)
        refuse("HASP_ELISION: ", wrong);
    wrong = elision_set(with.options);
    if (wrong)
        refuse("HASP_ELISION_OPTIONS: ", wrong);
    if (elision_settings.global && other)
        refuse("HASP_ELISION_OPTIONS: ",
               "scope=global makes one lock of all mutexes; rwlocks cannot be elided "
               "beside it");
    if (with.statistics && *with.statistics) {
        statistics_file = with.statistics;
        elision_settings.timed = true;
    }
    is_used = htm_offered();
    is_default = is_elided(chosen) || (index && plan_active);
    is_default_rwlock = is_elided_rwlock(rwlock) || (other && plan_active);
    if (is_used)
        return true;
    if (!with.back_end || strcmp(with.back_end, "never") != 0)
        tell(index ? elided_at(index).name : elided_rwlock_at(other).about.name,
             index ? lock_at(elided_inner(index)).name
                   : rwlock_at(elided_rwlock_inner(other)).about.name,
             with.note);
    return false;
}
