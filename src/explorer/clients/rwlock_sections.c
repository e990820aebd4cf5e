/* SPDX-License-Identifier: MIT */
#include "explorer/clients/rwlock_sections.h"

#include <errno.h>

void read_section(void)
{
    expect(inside == 0, "a reader and a writer are in the critical section");
    expect(sections < 16, "the critical section was never entered so often");
}

static void must(int status)
{
    expect(status == 0, "the operation returns an error");
}

static bool did(int status, int otherwise)
{
    expect(status == 0 || status == otherwise, "the operation returns another error");
    return status == 0;
}

void read_lock(void)
{
    begin_operation();
    must(client_rwlock_operations->read_lock(&client_rwlock));
}

void write_lock(void)
{
    begin_operation();
    must(client_rwlock_operations->write_lock(&client_rwlock));
}

bool read_trylock(void)
{
    begin_operation();
    return did(client_rwlock_operations->read_trylock(&client_rwlock), EBUSY);
}

bool write_trylock(void)
{
    begin_operation();
    return did(client_rwlock_operations->write_trylock(&client_rwlock), EBUSY);
}

bool read_timedlock(void)
{
    begin_operation();
    return did(client_rwlock_operations->read_timedlock(&client_rwlock, new_deadline()),
               ETIMEDOUT);
}

bool write_timedlock(void)
{
    begin_operation();
    return did(
        client_rwlock_operations->write_timedlock(&client_rwlock, new_deadline()),
        ETIMEDOUT);
}

void read_unlock(void)
{
    begin_operation();
    must(client_rwlock_operations->read_unlock(&client_rwlock));
}

void write_unlock(void)
{
    begin_operation();
    must(client_rwlock_operations->write_unlock(&client_rwlock));
}

void either_unlock(void)
{
    begin_operation();
    must(client_rwlock_operations->unlock(&client_rwlock));
}

void read_once(void)
{
    read_lock();
    read_section();
    read_unlock();
}

void write_once(void)
{
    write_lock();
    section();
    write_unlock();
}

void finish_free_rwlock(void)
{
    expect(write_trylock(), "a write trylock fails on the free lock in the end");
    section();
    write_unlock();
    expect(read_trylock(), "a read trylock fails on the free lock in the end");
    expect(read_trylock(), "a second read trylock fails while the lock is read");
    read_unlock();
    read_unlock();
    begin_operation();
    must(client_rwlock_operations->destroy(&client_rwlock));
}
