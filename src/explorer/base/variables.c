/* SPDX-License-Identifier: MIT */
#include "explorer/base/variables.h"

struct lock client_lock;
const struct lock_operations *client_operations;
struct rwlock client_rwlock;
const struct rwlock_operations *client_rwlock_operations;
struct spinlock client_spinlock;
struct barrier client_barrier;
struct delegate client_delegate;

uint32_t inside, sections;
struct atomic_u32 flag, arrived, served;

static bool is_within(const void *address, const void *object, size_t size)
{
    const char *at = address, *from = object;
    return at >= from && at < from + size;
}

bool is_of_the_lock(const void *address)
{
    return is_within(address, &client_lock, sizeof client_lock) ||
           is_within(address, &client_rwlock, sizeof client_rwlock) ||
           is_within(address, &client_spinlock, sizeof client_spinlock) ||
           is_within(address, &client_barrier, sizeof client_barrier);
}

const char *client_variable(const void *address)
{
    return address == &inside     ? "inside"
           : address == &sections ? "sections"
           : address == &flag     ? "flag"
           : address == &arrived  ? "arrived"
           : address == &served   ? "served"
                                  : NULL;
}
