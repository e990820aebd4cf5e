/* SPDX-License-Identifier: MIT */
#include "preload/plan.h"

#include "preload/dispatch.h"

#include <string.h>
#include <unistd.h>
#include <unwind.h>

bool plan_active;
static unsigned usual_slot;
static bool says_matches, says_stale;
static pid_t reporter;

/* The return addresses that led here from outside Hasp, the innermost first. */
struct frames {
    unsigned wanted, found;
    uintptr_t at[PLAN_FRAMES];
};

/* libgcc's unwinder, linked in: glibc's backtrace() would load it at its first call,
 * and that allocates, possibly by the allocator whose mutex this is. */
static _Unwind_Reason_Code note_frame(struct _Unwind_Context *context, void *argument)
{
    struct frames *frames = argument;
    uintptr_t address = _Unwind_GetIP(context);
    if (frames->found == 0 && plan_is_own(address))
        return _URC_NO_REASON;
    frames->at[frames->found++] = address;
    return frames->found < frames->wanted ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static void find_frames(struct frames *frames)
{
    frames->found = 0;
    _Unwind_Backtrace(note_frame, frames);
}

static bool within(const struct plan_place *place, uintptr_t address)
{
    const struct plan_module *module = &plan.module[place->module];
    if (!load_acquire(&module->loaded))
        return false;
    uintptr_t offset = address - load_relaxed(&module->bias);
    return offset >= place->first && offset <= place->last;
}

static bool made_through(const struct plan_entry *entry, struct frames *frames)
{
    if (!within(&entry->place[0], frames->at[0]))
        return false;
    if (entry->depth > frames->found) {
        frames->wanted = PLAN_FRAMES;
        find_frames(frames);
    }
    if (entry->depth > frames->found)
        return false;
    for (unsigned i = 1; i < entry->depth; i++)
        if (!within(&entry->place[i], frames->at[i]))
            return false;
    return true;
}

static struct plan_entry *entry_for(const struct lock *lock, const void *caller)
{
    struct frames frames = {.wanted = 1, .found = 1, .at = {(uintptr_t)caller}};
    plan_find_modules();
    if (plan.asks_frames && (!caller || plan_is_own(frames.at[0])))
        find_frames(&frames);
    for (unsigned i = 0; i < plan.entries; i++) {
        struct plan_entry *entry = &plan.entry[i];
        if (entry->depth ? frames.found && made_through(entry, &frames)
                         : within(&entry->place[0], (uintptr_t)lock))
            return entry;
    }
    return NULL;
}

static void note_match(struct plan_entry *entry)
{
    if (load_relaxed(&entry->matched) || exchange_relaxed(&entry->matched, 1) ||
        !says_matches)
        return;
    char text[128] = "plan: ";
    strcat(text, lock_at(entry->algorithm - 1u).name);
    strcat(text, " for ");
    complain(text, entry->site);
}

void plan_resolve(struct lock *lock, const void *caller)
{
    struct plan_entry *entry = plan.entries ? entry_for(lock, caller) : NULL;
    uint8_t chosen = entry ? entry->algorithm : (uint8_t)usual_slot, none = 0;
    /* Glibc keeps an estimate of adaptive mutexes where the index is: what it is to
     * treat has to be of the normal kind, which differs in nothing else. */
    if (chosen == DISPATCH_GLIBC && (lock->kind & KIND_TYPE) == KIND_ADAPTIVE)
        lock->kind &= ~KIND_TYPE;
    /* Two threads may come here at once; for both the winner's choice counts. */
    if (compare_exchange_release(&lock->algorithm, &none, chosen) && entry)
        note_match(entry);
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

static int plan_unlock(struct lock *lock)
{
    return resolved(lock, NULL)->unlock(lock);
}

/* All else is preceded by passed_through(), which resolves. */
const struct lock_operations plan_operations = {.lock = plan_lock,
                                                .unlock = plan_unlock};

void plan_begin(unsigned usual, bool verbose, bool report)
{
    usual_slot = usual;
    says_matches = verbose;
    says_stale = report;
    reporter = getpid();
    plan_active = true;
}

/* Whether an entry, and all others of the same site, matched nothing; of these the
 * first. */
static bool is_stale(unsigned number)
{
    const char *site = plan.entry[number].site;
    for (unsigned i = 0; i < plan.entries; i++)
        if (strcmp(plan.entry[i].site, site) == 0 &&
            (load_relaxed(&plan.entry[i].matched) || i < number))
            return false;
    return true;
}

/* At the end: what the plan expected and did not come. Only the process that began, and
 * only if it has code that the plan is about: it may be a shell on the way there. */
__attribute__((destructor)) static void tell_stale(void)
{
    if (!says_stale || getpid() != reporter)
        return;
    plan_find_modules();
    bool concerned = false;
    for (unsigned i = 0; i < plan.modules; i++)
        concerned = concerned || load_relaxed(&plan.module[i].loaded);
    for (unsigned i = 0; concerned && i < plan.entries; i++)
        if (is_stale(i))
            complain("plan: no mutex was made or first taken at ", plan.entry[i].site);
}
