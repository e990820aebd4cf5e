/* SPDX-License-Identifier: MIT */
#include "explorer/turns.h"

#include "explorer/model.h"

struct lock client_lock;
const struct lock_operations *client_operations;

uint32_t inside, sections;
struct atomic_u32 flag, arrived, served;
struct waiter *sleeper;

const char *client_variable(const void *address)
{
    return address == &inside     ? "inside"
           : address == &sections ? "sections"
           : address == &flag     ? "flag"
           : address == &sleeper  ? "sleeper"
           : address == &arrived  ? "arrived"
           : address == &served   ? "served"
                                  : NULL;
}

void section(void)
{
    expect(inside == 0, "two threads are in the critical section");
    inside = 1;
    sections++;
    inside = 0;
}

void lock(void)
{
    begin_operation();
    client_operations->lock(&client_lock);
}

bool trylock(void)
{
    begin_operation();
    return client_operations->trylock(&client_lock);
}

bool timedlock(void)
{
    begin_operation();
    return client_operations->timedlock(&client_lock, new_deadline());
}

void unlock(void)
{
    begin_operation();
    client_operations->unlock(&client_lock);
}

void take_turn(void)
{
    lock();
    section();
    unlock();
}

void take_turn_if_in_time(void)
{
    if (!timedlock())
        return;
    section();
    unlock();
}

void take_turn_in_the_end(void)
{
    if (!timedlock())
        lock();
    section();
    unlock();
}

/* Whatever was done to it, it has to be as good as new in the end. */
void finish_free(void)
{
    expect(trylock(), "trylock fails on the free lock in the end");
    section();
    unlock();
    begin_operation();
    client_operations->destroy(&client_lock);
}
