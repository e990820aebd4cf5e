/* SPDX-License-Identifier: MIT */
/* The calls that -fsanitize=thread inserts before every access to a plain variable. */
#include "relacy/plain_accesses.h"

#define ACCESS(name, size, write)                                                      \
    void __tsan_##name(const void *address)                                            \
    {                                                                                  \
        access_plain(address, size, write);                                            \
    }
#include "explorer/memory/instrumented_accesses.def"

void __tsan_read_range(const void *address, unsigned long size)
{
    access_plain(address, (unsigned)size, false);
}
void __tsan_write_range(const void *address, unsigned long size)
{
    access_plain(address, (unsigned)size, true);
}
void __tsan_init(void)
{
}
void __tsan_func_entry(void *caller)
{
    (void)caller;
}
void __tsan_func_exit(void)
{
}
