/* SPDX-License-Identifier: MIT */
#include "preload/borrowing/thread.h"

#include "platform/native/operations.h"
#include "preload/borrowing/signals.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

__thread struct borrow_thread *borrow_self;
__thread struct borrow_alternate borrow_alternate;
struct atomic_u32 borrowing;
int borrow_signal;
uint64_t borrow_slice_ns = BORROW_SLICE_MS * UINT64_C(1000000);

static struct borrow_thread *records; /* a list that only grows */
static pthread_key_t at_exit;
static struct atomic_u32 has_key;

/* --- records --- */

static struct borrow_thread *all(void)
{
    return __atomic_load_n(&records, __ATOMIC_ACQUIRE);
}

static bool claim(struct borrow_thread *record)
{
    uint32_t nobody = 0;
    return load_relaxed(&record->thread) == 0 &&
           compare_exchange_acquire(&record->thread, &nobody, current_thread());
}

enum { GUARD_BYTES = 4096 };

static struct borrow_thread *new_record(void)
{
    struct borrow_thread *record = map_pages(sizeof *record + WAITING_STACK_BYTES);
    if (!record)
        return NULL;
    /* The record is above its waiting stack, whose last page cannot be accessed. */
    raw_syscall(SYS_mprotect, (long)record, GUARD_BYTES, PROT_NONE, 0, 0, 0);
    record = (struct borrow_thread *)(void *)((char *)record + WAITING_STACK_BYTES);
    store_relaxed(&record->thread, current_thread());
    record->next = all();
    while (!__atomic_compare_exchange_n(&records, &record->next, record, false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
    return record;
}

static struct borrow_thread *self(void)
{
    struct borrow_thread *record = borrow_self;
    if (likely(record != NULL))
        return record;
    for (record = all(); record && !claim(record); record = record->next)
        ;
    if (!record)
        record = new_record();
    if (!record)
        return NULL;
    record->registers.thread_pointer = (uint64_t)__builtin_thread_pointer();
    borrow_self = record;
    if (load_acquire(&has_key))
        pthread_setspecific(at_exit, record);
    return record;
}

static void give_record(void *argument)
{
    struct borrow_thread *record = argument;
    borrow_hand_back();
    borrow_self = NULL;
    store_release(&record->thread, 0);
}

void borrow_watch_threads(void)
{
    if (pthread_key_create(&at_exit, give_record) == 0)
        store_release(&has_key, 1);
}

/* The child of a fork has one thread, and the records of the others are nobody's. */
void borrow_forked(void)
{
    borrow_keep_process();
    for (struct borrow_thread *record = all(); record; record = record->next) {
        memset(record->ended, 0, sizeof record->ended);
        record->interrupted = 0;
        if (record != borrow_self) {
            record->registers.runner = NULL;
            store_relaxed(&record->borrows, 0);
            store_relaxed(&record->masked, 0);
            store_relaxed(&record->thread, 0);
        } else {
            store_relaxed(&record->thread, current_thread());
        }
    }
}

/* --- the owner --- */

void borrow_set_mask(uint64_t mask)
{
    raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof mask, 0, 0);
}

/* Continues an interrupted stretch on the owner's kernel thread, which this is. */
static void resume_context(struct borrow_thread *owner)
{
    uint64_t everything = UINT64_MAX, mask;
    raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&everything, (long)&mask,
                sizeof mask, 0, 0);
    void *context = owner->context;
    if (load_relaxed(&owner->masked)) {
        mask = owner->mask;
        store_relaxed(&owner->masked, 0);
    }
    owner->context = NULL;
    context_resume(context, mask);
}

/* Runs on the waiting stack (B1), first without and later perhaps within a stretch. */
static uint32_t wait_parked(struct registers *parked)
{
    struct borrow_thread *owner = (struct borrow_thread *)parked;
    struct waiter *request = owner->request;
    const struct borrow_thread *last = NULL;
    uint32_t state, spins = spin_limit();
    for (;; spins = 1) {
        const struct deadline slice = deadline_after(borrow_slice_ns);
        state = request_wait(request, REQUEST_OFFERED, spins, &slice);
        if (state != REQUEST_OFFERED)
            break;
        struct borrow_thread *now = (struct borrow_thread *)__atomic_load_n(
            &owner->registers.runner, __ATOMIC_RELAXED);
        if (now && now == last) /* B5 */
            borrow_kick(now);
        last = now;
    }
    if (state != REQUEST_WAITING)
        waiter_give(request);
    if (state == REQUEST_HANDED_BACK && owner->context)
        resume_context(owner);
    return state;
}

static uint32_t offer_parked(struct registers *parked)
{
    struct borrow_thread *owner = (struct borrow_thread *)parked;
    if (!request_change(owner->request, REQUEST_WAITING, REQUEST_OFFERED)) {
        waiter_give(owner->request); /* GRANTED by now */
        return REQUEST_GRANTED;
    }
    if (load_relaxed(&owner->masked)) /* postpone() was called before the offer */
        request_change(owner->request, REQUEST_OFFERED, REQUEST_WAITING);
    return wait_parked(parked);
}

/* After its kernel thread has left the waiting stack: signals come now. */
static void unmask(struct borrow_thread *owner)
{
    if (unlikely(load_relaxed(&owner->masked))) {
        store_relaxed(&owner->masked, 0);
        borrow_set_mask(owner->mask);
    }
}

static bool on_alternate_stack(void)
{
    uint64_t here = (uint64_t)__builtin_frame_address(0);
    return here >= borrow_alternate.begin && here < borrow_alternate.end;
}

uint32_t borrow_await(struct lock *lock, struct waiter *request)
{
    struct borrow_thread *owner;
    uint32_t state;
    do {
        if (!load_relaxed(&borrowing) || on_alternate_stack() || !(owner = self()))
            return request_await_grant(request);
        owner->lock = lock;
        owner->request = request;
        request->lock = (struct lock *)(void *)owner; /* read by borrow_run() */
        state = registers_park(&owner->registers, owner, offer_parked);
        if (state == REQUEST_BORROWED) /* on the borrower's kernel thread */
            return state;
        unmask(owner);
    } while (state == REQUEST_WAITING); /* withdrawn for a signal handler */
    return state;
}

/* --- the borrower --- */

bool borrow_begin(void)
{
    if (!load_relaxed(&borrowing) || on_alternate_stack())
        return false;
    struct borrow_thread *me = self();
    if (!me || me->registers.runner)
        return false;
    store_relaxed(&me->borrows, 1);
    fence_seq_cst(); /* pairs with the one in borrow_stop() */
    if (load_relaxed(&borrowing))
        return true;
    store_release(&me->borrows, 0);
    return false;
}

bool borrow_continues(void)
{
    return load_relaxed(&borrowing);
}

void borrow_end(void)
{
    store_release(&borrow_self->borrows, 0);
}

enum stretch_end borrow_run(struct waiter *request)
{
    struct borrow_thread *me = borrow_self;
    struct borrow_thread *owner = (struct borrow_thread *)(void *)request->lock;
    owner->registers.runner = &me->registers;
    uint32_t how =
        registers_enter(&me->registers, &owner->registers, REQUEST_BORROWED);
    owner->registers.runner = NULL;
    unmask(me); /* if a signal has ended the stretch, it is delivered here */
    me->ended[how]++;
    return (enum stretch_end)how;
}

bool borrow_unlocks(const struct lock *lock)
{
    struct borrow_thread *owner = borrow_self;
    if (!borrow_in_stretch())
        return false;
    if (owner->lock != lock ||
        registers_leave(&owner->registers, STRETCH_UNLOCKED) == 0)
        return false; /* handed back meanwhile: the caller holds the lock */
    unmask(owner);
    return true;
}

void borrow_before_unlock(const struct lock *lock)
{
    const struct borrow_thread *owner = borrow_self;
    if (borrow_in_stretch() && owner->lock != lock)
        borrow_hand_back();
}

void borrow_hand_back(void)
{
    struct borrow_thread *owner = borrow_self;
    if (!borrow_in_stretch())
        return;
    if (registers_leave(&owner->registers, STRETCH_HANDED_BACK) != 0)
        unmask(owner);
}

/* --- stopping --- */

void borrow_kick(struct borrow_thread *thread)
{
    uint32_t id = load_relaxed(&thread->thread);
    if (id && borrow_signal)
        raw_syscall(SYS_tgkill, getpid(), (long)id, borrow_signal, 0, 0, 0);
}

enum { PAUSE_NS = 1000000 };

void borrow_stop(void)
{
    if (exchange_acq_rel(&borrowing, 0) == 0)
        return;
    fence_seq_cst(); /* pairs with the one in borrow_begin() */
    for (struct borrow_thread *record = all(); record; record = record->next)
        while (record != borrow_self && load_acquire(&record->borrows)) {
            const struct timespec pause = {0, PAUSE_NS};
            borrow_kick(record);
            raw_syscall(SYS_nanosleep, (long)&pause, 0, 0, 0, 0, 0);
        }
}

struct borrow_counts borrow_counts(void)
{
    struct borrow_counts sum = {0, 0, 0};
    for (const struct borrow_thread *record = all(); record; record = record->next) {
        sum.unlocked += record->ended[STRETCH_UNLOCKED];
        sum.handed_back += record->ended[STRETCH_HANDED_BACK];
        sum.interrupted += record->interrupted;
    }
    return sum;
}
