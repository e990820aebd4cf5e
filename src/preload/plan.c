/* SPDX-License-Identifier: MIT */
#include "preload/plan.h"

#include "platform/native/exit_frame.h"
#include "preload/dispatch.h"

#include <string.h>
#include <unistd.h>
#include <unwind.h>

bool plan_active;
static unsigned fallback_slot;
static bool reports_matches, reports_stale;
static pid_t reporter;

/* Return addresses outside Hasp, innermost first. */
struct frames {
    unsigned wanted, found;
    uintptr_t at[PLAN_FRAMES];
};

/* Uses libgcc's unwinder, linked statically: glibc's backtrace() would load it on its
 * first call, and that allocates, possibly with the allocator whose mutex this is. */
static _Unwind_Reason_Code note_frame(struct _Unwind_Context *context, void *argument)
{
    struct frames *frames = argument;
    uintptr_t address = _Unwind_GetIP(context);
    if (frames->found == 0 && plan_is_own(address))
        return _URC_NO_REASON;
    frames->at[frames->found++] = address;
    bool more = frames->found < frames->wanted && !is_exit_frame(address);
    return more ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static void find_frames(struct frames *frames)
{
    frames->found = 0;
    _Unwind_Backtrace(note_frame, frames);
}

static bool within(const struct plan_range *range, uintptr_t address)
{
    const struct plan_module *module = &plan.module[range->module];
    if (!load_acquire(&module->loaded))
        return false;
    uintptr_t offset = address - load_relaxed(&module->bias);
    return offset >= range->first && offset <= range->last;
}

static bool call_chain_matches(const struct plan_entry *entry, struct frames *frames)
{
    if (!within(&entry->range[0], frames->at[0]))
        return false;
    if (entry->depth > frames->found) {
        frames->wanted = PLAN_FRAMES;
        find_frames(frames);
    }
    if (entry->depth > frames->found)
        return false;
    for (unsigned i = 1; i < entry->depth; i++)
        if (!within(&entry->range[i], frames->at[i]))
            return false;
    return true;
}

static struct plan_entry *entry_for(enum plan_kind kind, const void *object,
                                    const void *caller)
{
    if (!plan_concerns(kind))
        return NULL;
    struct frames frames = {.wanted = 1, .found = 1, .at = {(uintptr_t)caller}};
    plan_find_modules();
    if (plan.uses_frames && (!caller || plan_is_own(frames.at[0])))
        find_frames(&frames);
    for (unsigned i = 0; i < plan.entries; i++) {
        struct plan_entry *entry = &plan.entry[i];
        if (entry->kind != kind)
            continue;
        if (entry->depth ? frames.found && call_chain_matches(entry, &frames)
                         : within(&entry->range[0], (uintptr_t)object))
            return entry;
    }
    return NULL;
}

static void note_match(struct plan_entry *entry)
{
    if (load_relaxed(&entry->matched) || exchange_relaxed(&entry->matched, 1) ||
        !reports_matches)
        return;
    char text[128] = "plan: ";
    strncat(text, entry->name, sizeof text / 2);
    strcat(text, " for ");
    complain(text, entry->site);
}

void plan_resolve(struct lock *lock, const void *caller)
{
    struct plan_entry *entry = entry_for(PLAN_MUTEX, lock, caller);
    uint8_t chosen = entry ? entry->slot : (uint8_t)fallback_slot, none = 0;
    /* glibc keeps the spin estimate of an adaptive mutex where the index is, so a mutex
     * that is passed through becomes a normal one, which does not differ otherwise. */
    if (chosen == DISPATCH_GLIBC && (lock->kind & KIND_TYPE) == KIND_ADAPTIVE)
        lock->kind &= ~KIND_TYPE;
    /* Of two threads that resolve the mutex at once, the first one sets it for both.
     * Release: pairs with passed_through(), after which glibc reads the kind. */
    if (compare_exchange_release(&lock->algorithm, &none, chosen) && entry)
        note_match(entry);
}

unsigned plan_slot(enum plan_kind kind, const void *object, const void *caller)
{
    struct plan_entry *entry = entry_for(kind, object, caller);
    if (!entry)
        return 0;
    note_match(entry);
    return entry->slot;
}

static const struct lock_operations *resolved(struct lock *lock, const void *caller)
{
    plan_resolve(lock, caller);
    return operations_of(lock);
}

static int plan_lock(struct lock *lock)
{
    return resolved(lock, __builtin_return_address(0))->lock(lock);
}

static bool plan_trylock(struct lock *lock)
{
    return resolved(lock, NULL)->trylock(lock);
}

static int plan_unlock(struct lock *lock)
{
    return resolved(lock, NULL)->unlock(lock);
}

/* All other operations are preceded by passed_through(), which resolves the mutex. */
const struct lock_operations plan_operations = {
    .lock = plan_lock, .trylock = plan_trylock, .unlock = plan_unlock};

void plan_begin(unsigned fallback, bool verbose, bool report)
{
    fallback_slot = fallback;
    reports_matches = verbose;
    reports_stale = report;
    reporter = getpid();
    plan_active = true;
}

/* Returns whether this is the first entry of its site, and no entry of the site has
 * matched. */
static bool is_stale(unsigned number)
{
    const char *site = plan.entry[number].site;
    for (unsigned i = 0; i < plan.entries; i++)
        if (plan.entry[i].kind == plan.entry[number].kind &&
            strcmp(plan.entry[i].site, site) == 0 &&
            (load_relaxed(&plan.entry[i].matched) || i < number))
            return false;
    return true;
}

static void report_entry(const struct plan_entry *entry)
{
    char text[64] = "plan: no ";
    strcat(text, plan_kind_names[entry->kind]);
    strcat(text, entry->kind == PLAN_MUTEX || entry->kind == PLAN_RWLOCK
                     ? " created or first locked at "
                     : " created at ");
    complain(text, entry->site);
}

/* When the process ends, reports the sites to which no object belonged. It does so only
 * in the process that read the plan, and only if that process loaded a module of the
 * plan: otherwise it may be the shell that started the program. */
__attribute__((destructor)) static void report_stale(void)
{
    if (!reports_stale || getpid() != reporter)
        return;
    plan_find_modules();
    bool concerned = false;
    for (unsigned i = 0; i < plan.modules; i++)
        concerned = concerned || load_relaxed(&plan.module[i].loaded);
    for (unsigned i = 0; concerned && i < plan.entries; i++)
        if (is_stale(i))
            report_entry(&plan.entry[i]);
}
