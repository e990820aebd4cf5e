/* SPDX-License-Identifier: MIT */
#include "explorer/base/variables.h"

struct lock client_lock;
const struct lock_operations *client_operations;

uint32_t inside, sections;
struct atomic_u32 flag, arrived, served;

const char *client_variable(const void *address)
{
    return address == &inside     ? "inside"
           : address == &sections ? "sections"
           : address == &flag     ? "flag"
           : address == &arrived  ? "arrived"
           : address == &served   ? "served"
                                  : NULL;
}
