/* SPDX-License-Identifier: MIT */
/*
 * Initialises the library once: before the constructors of the program and its other
 * libraries (the library is linked `initfirst`), or at the first hooked call if that
 * comes earlier.
 *
 * The order matters. The table comes first, from the environment alone, so that later
 * steps can take locks; then the steps that need system calls; last those that take the
 * C library's locks.
 */
#include "condition/queue.h"
#include "elision/global.h"
#include "elision/policy.h"
#include "platform/number_text.h"
#include "preload/barrier.h"
#include "preload/borrowing/borrowing.h"
#include "preload/dispatch.h"
#include "preload/elision.h"
#include "preload/plan.h"
#include "preload/real.h"
#include "preload/rwlock_dispatch.h"
#include "preload/spinlock.h"

#include "barriers/list/descriptor.h"
#include "rwlocks/read_holds.h"
#include "spinlocks/list/descriptor.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

EXPORT extern const char hasp_version[];
const char hasp_version[] = HASP_VERSION;

extern char **environ;

static char **environment;
static bool started;

static char *setting(const char *name)
{
    size_t length = strlen(name);
    for (char **entry = environment; entry && *entry; entry++)
        if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=')
            return *entry + length + 1;
    return NULL;
}

static bool setting_is(const char *name, const char *value)
{
    const char *text = setting(name);
    return text && strcmp(text, value) == 0;
}

enum { GLIBC = 0 }; /* index of the pass-through in every list */

/* The choice of an algorithm for a kind of lock, by a variable of the environment. */
struct choice {
    const char *variable;
    int (*find)(const char *name); /* index in the list of the kind, or -1 */
    const char *complaint, *remedy;
};

static const struct choice mutex_choice = {
    "HASP_LOCK", listed_find,
    "HASP_LOCK names an unknown lock algorithm: ", "run `hasp list` for the names"};
static const struct choice rwlock_choice = {
    "HASP_RWLOCK", elided_rwlock_find,
    "HASP_RWLOCK names an unknown algorithm for reader-writer locks: ",
    "run `hasp list --kind rwlock` for the names"};
static const struct choice spinlock_choice = {
    "HASP_SPINLOCK", spinlock_find,
    "HASP_SPINLOCK names an unknown spin lock algorithm: ",
    "run `hasp list --kind spinlock` for the names"};
static const struct choice barrier_choice = {
    "HASP_BARRIER", barrier_find, "HASP_BARRIER names an unknown barrier algorithm: ",
    "run `hasp list --kind barrier` for the names"};

/* Returns the index of the chosen algorithm, `otherwise` if none is chosen. Ends the
 * process with a message if there is none of that name. */
static unsigned chosen(const struct choice *choice, unsigned otherwise)
{
    const char *name = setting(choice->variable);
    if (!name || !*name)
        return otherwise;
    int found = choice->find(name);
    if (found >= 0)
        return (unsigned)found;
    complain(choice->complaint, name);
    complain(choice->remedy, "");
    _exit(2);
}

/* Runs in the child of every fork and _Fork, before any other fork handler. */
static void forked(void)
{
    thread_id_forget();
    fork_in_child();
    borrow_forked();
    if (elision_settings.global)
        global_forked();
    read_holds_in_child();
}

/* Finds the flag word, whose offset differs between versions of glibc, by initialising
 * a condition variable with two flags set. */
static void find_condition_flags(void)
{
    pthread_condattr_t attributes;
    pthread_cond_t probe;
    uint32_t words[sizeof probe / sizeof(uint32_t)];
    memset(&probe, 0, sizeof probe);
    pthread_condattr_init(&attributes);
    pthread_condattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    real_pthread_cond_init()(&probe, &attributes);
    memcpy(words, &probe, sizeof words);
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
        if (words[i] == (CONDITION_SHARED | CONDITION_MONOTONIC))
            condition_flags_offset = i * (unsigned)sizeof(uint32_t);
}

/* The algorithm of each kind, as its index in the list of the kind. */
struct algorithms {
    unsigned lock, rwlock, spinlock, barrier;
};

/* Appends the algorithm of another kind, unless it is glibc's. */
static void announce_kind(char *text, const char *kind, unsigned index,
                          const char *name)
{
    if (index == GLIBC)
        return;
    strcat(text, kind);
    strncat(text, name, 48);
}

static void announce(const struct algorithms *use, bool biased)
{
    char text[320] = "lock=";
    strcat(text, listed_at(use->lock).name);
    announce_kind(text, " rwlock=", use->rwlock,
                  elided_rwlock_at(use->rwlock).about.name);
    announce_kind(text, " spinlock=", use->spinlock,
                  spinlock_list[use->spinlock].about.name);
    announce_kind(text, " barrier=", use->barrier,
                  barrier_list[use->barrier].about.name);
    strcat(text, biased ? " bias=on pid=" : " bias=off pid=");
    struct number_text pid;
    complain(text, number_text((uint32_t)getpid(), &pid));
}

static bool plan_delegates(void)
{
    for (unsigned i = 0; i < plan.entries; i++)
        if (plan.entry[i].kind == PLAN_MUTEX && is_delegate(plan.entry[i].slot - 1u))
            return true;
    return false;
}

static void describe_machine(void)
{
    const char *cohorts = setting("HASP_COHORTS");
    if (cohorts && !topology_choose_cohorts(cohorts))
        complain("ignoring HASP_COHORTS, which must be auto, cache or node: ", cohorts);
    const char *topology = setting("HASP_TOPOLOGY");
    if (topology && !topology_read(topology))
        complain("ignoring HASP_TOPOLOGY, which must be like 2x4 (NODESxCPUS), "
                 "2x4,threads or 2x4,roam: ",
                 topology);
    const char *park_ns = setting("HASP_PARK_NS");
    if (park_ns)
        spinning_set_park_cost((uint32_t)strtoul(park_ns, NULL, 10));
}

void startup(void)
{
    if (started)
        return;
    started = true; /* there is only one thread yet */
    if (!environment)
        environment = environ;
    const struct algorithms use = {.lock = chosen(&mutex_choice, lock_default),
                                   .rwlock = chosen(&rwlock_choice, GLIBC),
                                   .spinlock = chosen(&spinlock_choice, GLIBC),
                                   .barrier = chosen(&barrier_choice, GLIBC)};
    const char *sites = setting("HASP_PLAN");
    if (sites)
        plan_read(sites);
    if (sites || use.lock + 1 == DISPATCH_GLIBC) /* see plan_resolve() */
        plan_begin(use.lock + 1, setting_is("HASP_VERBOSE", "1"),
                   setting_is("HASP_PLAN_REPORT", "1"));
    dispatch_fill(use.lock, false, false);
    rwlock_dispatch_fill(use.rwlock, false);
    spinlock_use(use.spinlock);
    barrier_use(use.barrier);

    bool biased = !setting_is("HASP_BIAS", "0") && barrier_register();
    const struct elision_environment elision = {
        .back_end = setting("HASP_ELISION"),
        .options = setting("HASP_ELISION_OPTIONS"),
        .statistics = setting("HASP_ELISION_STATISTICS"),
        .note = setting("HASP_ELISION_NOTE")};
    bool elides = elision_prepare(use.lock, use.rwlock, elision);
    if (biased || elides || elision_settings.global)
        dispatch_fill(use.lock, biased, elides);
    if (elides)
        rwlock_dispatch_fill(use.rwlock, true);
    fork_watch();
    describe_machine();
    pthread_atfork(NULL, NULL, forked);
    find_condition_flags();
    if (use.rwlock || plan_concerns(PLAN_RWLOCK))
        rwlock_watch_threads();
    if (is_delegate(use.lock) || plan_delegates())
        borrow_prepare((struct borrow_environment){
            .off = setting("HASP_BORROWING"),
            .slice_ms = setting("HASP_BORROWING_SLICE_MS"),
            .statistics = setting("HASP_BORROWING_STATISTICS"),
            .preloaded = setting("LD_PRELOAD")});
    if (setting_is("HASP_VERBOSE", "1"))
        announce(&use, biased);
}

/* When this runs first, the C library has not set `environ` yet, but the loader passes
 * the environment as the third argument. */
__attribute__((constructor)) static void construct(int count, char **arguments,
                                                   char **entries)
{
    (void)count;
    (void)arguments;
    environment = entries;
    startup();
    real_dlopen(); /* looked up now, for the tail call in dlopen.c */
    real__Fork();
}

EXPORT pid_t _Fork(void)
{
    before_kernel();
    pid_t child = real__Fork()();
    if (child == 0)
        forked();
    return child;
}
