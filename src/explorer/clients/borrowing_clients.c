/* SPDX-License-Identifier: MIT */
/*
 * Clients of the lock `delegate` whose sections other threads may run. A section has
 * two halves: its context stands for the stack and the registers of its owner, and
 * whoever runs a half reads and writes it. A stretch may be handed back between them.
 */
#include "borrowing/delegate.h"
#include "borrowing/run.h"
#include "explorer/clients/clients.h"
#include "explorer/clients/critical_sections.h"
#include "explorer/clients/forks.h"
#include "explorer/clients/suitable.h"
#include "explorer/memory/lifetime.h"

/* The state of a section that its owner has parked. */
struct parked {
    uint32_t halves;    /* that have run */
    uint32_t order;     /* among all sections */
    uint32_t how;       /* the owner's wait ended */
    bool may_withdraw;  /* a signal may reach the owner while it waits */
    bool is_handed_back;
};

/* Of each thread; only the thread itself uses its entry. */
static struct parked *offers[8];

static void first_half(struct parked *parked)
{
    expect(inside == 0, "two threads are in the critical section");
    expect(parked->halves == 0, "a section ran twice");
    inside = 1;
    parked->halves = 1;
}

static void second_half(struct parked *parked)
{
    expect(parked->halves == 1, "the halves of a section are not in order");
    parked->order = ++sections;
    parked->halves = 2;
    inside = 0;
}

/* --- borrowing/run.h --- */

static uint32_t wait_unoffered(struct waiter *request)
{
    uint32_t state = request_wait(request, REQUEST_WAITING, spin_limit(), NULL);
    expect(state == REQUEST_GRANTED, "a wait without an offer ends without a grant");
    return state;
}

static uint32_t wait_offered(struct waiter *request, const struct parked *parked)
{
    if (!request_change(request, REQUEST_WAITING, REQUEST_OFFERED))
        return load_acquire(&request->cell); /* GRANTED */
    if (parked->may_withdraw &&
        request_change(request, REQUEST_OFFERED, REQUEST_WAITING))
        return wait_unoffered(request);
    return request_wait(request, REQUEST_OFFERED, spin_limit(), NULL);
}

uint32_t borrow_await(struct lock *lock, struct waiter *request)
{
    struct parked *parked = offers[current_thread() & 7];
    uint32_t state;
    (void)lock;
    if (!parked) {
        state = wait_unoffered(request);
    } else {
        request->lock = (struct lock *)(void *)parked;
        state = request_state(wait_offered(request, parked));
        parked->how = state;
    }
    waiter_give(request);
    return state;
}

bool borrow_begin(void)
{
    return true;
}

bool borrow_continues(void)
{
    return true;
}

void borrow_end(void)
{
}

enum stretch_end borrow_run(struct waiter *request)
{
    struct parked *parked = (struct parked *)(void *)request->lock;
    first_half(parked);
    if (parked->is_handed_back)
        return STRETCH_HANDED_BACK;
    second_half(parked);
    return STRETCH_UNLOCKED;
}

bool borrow_unlocks(const struct lock *lock)
{
    (void)lock;
    return false;
}

/* --- clients --- */

/* Returns the number of sections up to this one. */
static uint32_t enter_parked(struct parked parked)
{
    struct parked **offer = &offers[current_thread() & 7];
    *offer = &parked;
    lock();
    *offer = NULL;
    if (parked.how == REQUEST_RETURNED) {
        expect(parked.halves == 2, "a section has not ended, but returned");
        return parked.order;
    }
    expect((parked.how == REQUEST_HANDED_BACK) == (parked.halves == 1),
           "a section was handed back elsewhere");
    if (parked.halves == 0)
        first_half(&parked);
    second_half(&parked);
    unlock();
    return parked.order;
}

static uint32_t enter_offering(void)
{
    return enter_parked((struct parked){.halves = 0});
}

static void both(unsigned thread)
{
    (void)thread;
    enter_offering();
}

static void again(unsigned thread)
{
    enter_offering();
    if (thread == 0)
        enter_offering();
}

static void handed_back(unsigned thread)
{
    enter_parked((struct parked){.is_handed_back = thread != 0});
}

static void withdrawn(unsigned thread)
{
    enter_parked((struct parked){.may_withdraw = thread == 1});
}

/* One of the waiters has a deadline: its request may be left in the queue. */
static void beside_deadline(unsigned thread)
{
    if (thread == 2)
        enter_before_deadline();
    else
        enter_offering();
}

/* The owner of the last section destroys the lock (D2), even if another thread has run
 * it. */
static void last_destroys(unsigned thread)
{
    (void)thread;
    if (enter_offering() < 3)
        return;
    begin_operation();
    client_operations->destroy(&client_lock);
    lock_is_destroyed();
}

static void finish_all(uint32_t wanted)
{
    expect(sections == wanted, "a critical section was lost");
    finish_free();
}

static void finish_two(void)
{
    finish_all(2);
}

static void finish_three_sections(void)
{
    expect(sections == 3, "a critical section was lost");
}

static void finish_three(void)
{
    finish_all(3);
}

const struct client borrowing_clients[] = {
    {.name = "borrowed",
     .summary = "two threads offer their sections",
     .threads = 2,
     .body = both,
     .finish = finish_two,
     .alike = BIT(0) | BIT(1)},
    {.name = "borrowed-again",
     .summary = "two threads offer their sections, the first one twice",
     .threads = 2,
     .body = again,
     .finish = finish_three},
    {.name = "borrowed-three",
     .summary = "three threads offer their sections",
     .threads = 3,
     .body = both,
     .finish = finish_three,
     .alike = BIT(0) | BIT(1) | BIT(2)},
    {.name = "handed-back",
     .summary = "two of three sections are handed back half-way",
     .threads = 3,
     .body = handed_back,
     .finish = finish_three,
     .alike = BIT(1) | BIT(2)},
    {.name = "withdrawn",
     .summary = "an owner withdraws its offer while it waits",
     .threads = 3,
     .body = withdrawn,
     .finish = finish_three},
    {.name = "borrowed-timed",
     .summary = "two threads offer their sections beside a timed lock",
     .threads = 3,
     .body = beside_deadline,
     .finish = finish_free,
     .alike = BIT(0) | BIT(1)},
    {.name = "borrowed-last",
     .summary = "the owner of the last section destroys the lock",
     .threads = 3,
     .body = last_destroys,
     .finish = finish_three_sections,
     .alike = BIT(0) | BIT(1) | BIT(2)},
    {.name = "granted-fork",
     .summary = "the lock is granted to a thread that does not exist in the child",
     .threads = 4,
     .body = fork_after_grant,
     .finish = finish_free,
     .child = 3,
     .every_step = true},
};
const unsigned borrowing_client_count =
    sizeof borrowing_clients / sizeof borrowing_clients[0];
