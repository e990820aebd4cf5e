/* SPDX-License-Identifier: MIT */
#include "explorer/clients/critical_sections.h"

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

void enter(void)
{
    lock();
    section();
    unlock();
}

void enter_before_deadline(void)
{
    if (!timedlock())
        return;
    section();
    unlock();
}

void enter_after_deadline(void)
{
    if (!timedlock())
        lock();
    section();
    unlock();
}

void finish_two_sections(void)
{
    expect(sections == 2, "a critical section was lost");
}

void finish_free(void)
{
    expect(trylock(), "trylock fails on the free lock in the end");
    section();
    unlock();
    begin_operation();
    client_operations->destroy(&client_lock);
}
