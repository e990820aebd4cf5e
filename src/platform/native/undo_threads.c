/* SPDX-License-Identifier: MIT */
/* Stops all other threads while a transaction is open (undo.h). */
#include "platform/native/undo_state.h"

#if defined(__x86_64__)

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

void undo_stopped(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info;
    const uint32_t epoch = load_acquire(&undo->epoch);
    if (!load_acquire(&undo->stopping))
        return;
    const uint32_t number = fetch_add_acq_rel(&undo->stopped, 1);
    if (number < THREADS) {
        const ucontext_t *at = context;
        const uintptr_t top = (uintptr_t)at->uc_mcontext.gregs[REG_RSP];
        const uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
        undo->tops[number] = (top < frame ? top : frame) - PAGE;
        __atomic_store_n(&undo->tids[number],
                         (uint32_t)call(SYS_gettid, 0, 0, 0, 0), __ATOMIC_RELEASE);
    }
    while (load_acquire(&undo->epoch) == epoch)
        call(SYS_futex, (long)&undo->epoch, 0, epoch, 0); /* FUTEX_WAIT */
}

static bool has_stopped(uint32_t tid)
{
    for (uint32_t i = 0; i < load_acquire(&undo->stopped) && i < THREADS; i++)
        if (__atomic_load_n(&undo->tids[i], __ATOMIC_ACQUIRE) == tid)
            return true;
    return false;
}

/* Stops one thread; returns false if it does not stop. */
static bool stop(uint32_t tid)
{
    const long pid = call(SYS_getpid, 0, 0, 0, 0);
    if (call(SYS_tgkill, pid, tid, UNDO_SIGNAL, 0) != 0)
        return true; /* it has ended */
    for (int i = 0; i < PATIENCE; i++) {
        if (has_stopped(tid) || call(SYS_tgkill, pid, tid, 0, 0) != 0)
            return true;
        call(SYS_sched_yield, 0, 0, 0, 0);
    }
    return false;
}

static uint32_t number_of(const char *digits)
{
    uint32_t number = 0;
    for (; *digits >= '0' && *digits <= '9'; digits++)
        number = number * 10 + (uint32_t)(*digits - '0');
    return number;
}

/* Returns how many threads it has newly stopped, or -1. */
static int stop_listed(int folder)
{
    struct entry {
        uint64_t inode, next;
        uint16_t bytes;
        uint8_t type;
        char name[];
    };
    const uint32_t me = (uint32_t)call(SYS_gettid, 0, 0, 0, 0);
    int found = 0;
    long length;
    while ((length = call(SYS_getdents64, folder, (long)undo->maps, sizeof undo->maps,
                          0)) > 0) {
        for (long at = 0; at < length;) {
            const struct entry *entry = (const void *)(undo->maps + at);
            const uint32_t tid = number_of(entry->name);
            at += entry->bytes;
            if (!tid || tid == me || has_stopped(tid))
                continue;
            if (!stop(tid))
                return -1;
            found++;
        }
    }
    return found;
}

bool undo_stop_others(void)
{
    int found;
    memset(undo->tids, 0, sizeof undo->tids);
    store_relaxed(&undo->stopped, 0);
    store_release(&undo->stopping, 1);
    do {
        const char *const tasks = "/proc/self/task";
        long folder = call(SYS_open, (long)tasks, O_RDONLY | O_DIRECTORY, 0, 0);
        found = folder < 0 ? -1 : stop_listed((int)folder);
        if (folder >= 0)
            call(SYS_close, folder, 0, 0, 0);
    } while (found > 0);
    return found == 0 && load_acquire(&undo->stopped) <= THREADS;
}

void undo_let_others_go(void)
{
    store_relaxed(&undo->stopping, 0);
    fetch_add_release(&undo->epoch, 1);
    call(SYS_futex, (long)&undo->epoch, 1, INT32_MAX, 0); /* FUTEX_WAKE */
}

#endif
