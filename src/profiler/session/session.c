/* SPDX-License-Identifier: MIT */
#include "profiler/session/session.h"

#include "platform/native/small_file.h"
#include "profiler/record/between.h"
#include "profiler/record/misuse.h"
#include "profiler/session/record_delegated.h"
#include "profiler/sample/executed.h"
#include "profiler/sample/procfs.h"
#include "profiler/sample/sample_holds.h"
#include "profiler/session/prestart_locks.h"
#include "profiler/session/settings.h"
#include "profiler/store/clock.h"
#include "profiler/store/lock_order.h"
#include "profiler/store/lock_registry.h"
#include "profiler/store/modules.h"
#include "profiler/store/stack_profile.h"
#include "profiler/store/stacks.h"
#include "profiler/store/unwind.h"
#include "profiler/threads/lock_counts.h"
#include "profiler/threads/order_cache.h"
#include "profiler/threads/perf_counters.h"
#include "profiler/threads/preemption.h"
#include "profiler/threads/sampling_rate.h"
#include "profiler/threads/site_stats.h"
#include "profiler/threads/threads.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

enum state { UNKNOWN, OFF, WAITING, STARTING, ACTIVE };

extern const ElfW(Ehdr) __ehdr_start RECORD_HIDDEN; /* this library's, by the linker */

static struct atomic_u32 state;
static struct atomic_u32 patient; /* an operation has been seen */

static uint32_t process_id(void)
{
    return (uint32_t)raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

bool session_is_active(void)
{
    return load_acquire(&state) == ACTIVE;
}

static void fill_header(void)
{
    topology_read(NULL);
    trace->version = TRACE_VERSION;
    trace->byte_order = 0x01020304;
    trace->chunk_bytes = TRACE_CHUNK;
    trace->session = settings.session;
    trace->pid = process_id();
    trace->parent_pid = (uint32_t)raw_syscall(SYS_getppid, 0, 0, 0, 0, 0, 0);
    trace->cpus = cpu_count();
    trace->nodes = node_count();
    trace->machine = __ehdr_start.e_machine;
    trace->transactions = record_transactions;
    trace->mode = settings.sampled ? TRACE_SAMPLED : TRACE_FULL;
    strncpy(trace->lock, settings.lock, sizeof trace->lock - 1);
    strncpy(trace->other_locks, settings.other_locks, sizeof trace->other_locks - 1);
    small_file_read("/proc/self/cmdline", trace->command, sizeof trace->command);
    raw_syscall(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe",
                (long)trace->executable, sizeof trace->executable - 1, 0, 0);
    clock_read(&trace->begin);
    trace->latest = trace->begin;
}

/* Creates the file and starts recording. The caller is inside the recorder. */
static bool activate(void)
{
    if (!trace_file_create(settings.path, settings.bytes_limit))
        return false;
    if (!registry_map() || !stacks_map() || !stack_profile_map()) {
        complain("no lock profile: not enough memory", "");
        registry_forget(); /* the program needs the memory */
        stacks_forget();
        stack_profile_forget();
        trace_file_discard();
        return false;
    }
    preemption_prepare();
    fill_header();
    const bool filtered = procfs_is_filtered();
    perf_counters_prepare(settings.counter, filtered);
    executed_prepare(filtered);
    trace_file_publish_header();
    stacks_warm_up();
    modules_scan();
    prestart_replay();
    sampling_set_mode(settings.sampled);
    const struct session_calls calls = session_calls();
    calibrate(&calls.mutex);
    return true;
}

/* Activates once. Operations of other threads meanwhile are not recorded. */
static void try_to_activate(void)
{
    uint32_t waiting = WAITING;
    if (load_relaxed(&system_calls_forbidden)) {
        store_relaxed(&state, OFF);
        return;
    }
    if (!compare_exchange_acquire(&state, &waiting, STARTING))
        return;
    const int error = errno; /* lock functions must not change it */
    record_here.inside++;
    bool active = activate();
    record_here.inside--;
    store_release(&state, active ? ACTIVE : OFF); /* pairs with all loads of `state` */
    errno = error;
}

static void find_out(void)
{
    const int error = errno;
    uint32_t unknown = UNKNOWN;
    record_here.inside++;
    if (settings_read())
        threads_prepare(misuse_thread_ends);
    /* Release: a thread that sees the state sees the settings. */
    compare_exchange_acq_rel(&state, &unknown, settings.path ? WAITING : OFF);
    record_here.inside--;
    errno = error;
}

bool session_is_waiting(void)
{
    uint32_t now = load_relaxed(&state);
    if (now == UNKNOWN)
        find_out();
    return load_relaxed(&state) == WAITING;
}

/* Returns true when called again, which happens SESSION_PATIENCE operations later. */
static bool is_time(void)
{
    if (record_here.skip > 0)
        return false;
    if (exchange_relaxed(&patient, 1))
        return true;
    record_here.skip = SESSION_PATIENCE;
    return false;
}

struct recording *session_first_operation(void)
{
    if (session_is_waiting()) {
        if (!is_time())
            return NULL;
        try_to_activate();
    }
    switch (load_acquire(&state)) {
    case ACTIVE:
        break;
    case STARTING:
        return NULL;
    default:
        record_here.skip = RECORD_NEVER;
        return NULL;
    }
    const int error = errno;
    record_here.inside = 1;
    struct recording *me = thread_register();
    record_here.inside = 0;
    errno = error;
    if (me) {
        me->skip = 0;
        record_here.inside = 1;
        record_leave(me);
    }
    return me;
}

void session_creates_thread(void)
{
    if (session_is_waiting())
        try_to_activate();
    if (load_acquire(&state) != ACTIVE)
        return;
    record_me(); /* so that the creator is registered too */
    const int error = errno;
    record_here.inside++;
    sampler_start(session_calls().create);
    record_here.inside--;
    errno = error;
}

void session_forked(void)
{
    thread_id_forget(); /* it is the parent's */
    uint32_t before = load_relaxed(&state);
    if (before != ACTIVE && before != STARTING)
        return;
    record_here.inside = 1;
    if (trace) {
        perf_counters_forget();
        registry_forget();
        stacks_forget();
        site_stats_forget();
        between_forget();
        lock_counts_forget();
        stack_profile_forget();
        lock_order_forget();
        misuse_forget();
        waits_forget();
        modules_forget();
        sampler_forget();
        record_delegated_forget();
        trace_file_forget();
    }
    threads_forget();
    store_relaxed(&patient, 0);
    store_relaxed(&state, WAITING);
}

void session_needs_file(void)
{
    if (!record_here.inside && session_is_waiting())
        try_to_activate();
}

/* Writes the data that is not in the file yet. */
static void write_all(void)
{
    const bool inspects = !load_relaxed(&system_calls_forbidden);
    if (inspects)
        sample_holds(true); /* current holds count up to now; before counts change */
    for (struct recording *thread = recordings_first(); thread; thread = thread->next) {
        /* Races with the thread: a few acquisitions may be lost or doubled. */
        record_flush_pending(thread);
        stack_profile_flush(thread->weight);
        lock_counts_publish(thread);
        order_flush(thread);
    }
    if (inspects)
        sampler_account_all();
    modules_scan();
}

void session_ends_holding(void)
{
    struct recording *me = record_here.me;
    if (!session_is_active() || trace->pid != process_id() || !me)
        return;
    record_enter(me);
    misuse_process_ends(me);
    record_leave(me);
}

bool session_ends(enum trace_end how)
{
    if (!session_is_active() || trace->pid != process_id() || trace->ended)
        return false;
    if (!record_here.inside++)
        write_all(); /* otherwise in a signal handler that may have interrupted it */
    clock_read(&trace->latest);
    trace->ended = how;
    record_here.inside--;
    return true;
}

void session_goes_on(void)
{
    if (session_is_active())
        trace->ended = TRACE_RUNNING;
}
