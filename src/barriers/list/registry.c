/* SPDX-License-Identifier: MIT */
/* Expands barriers.def into the list of descriptor.h. Compiled once per platform. */
#include "barriers/list/descriptor.h"

#include "locks/list/names.h"
#include "locks/list/properties.h"

#define BARRIER(id, title, prefix, ...)                                                \
    static void id##_init_entry(struct barrier *barrier)                               \
    {                                                                                  \
        prefix##_init(barrier);                                                        \
    }                                                                                  \
    static bool id##_wait_entry(struct barrier *barrier)                               \
    {                                                                                  \
        return prefix##_wait(barrier);                                                 \
    }                                                                                  \
    static void id##_destroy_entry(struct barrier *barrier)                            \
    {                                                                                  \
        prefix##_destroy(barrier);                                                     \
    }
#include "barriers/barriers.def"
#undef BARRIER

const struct barrier_descriptor barrier_list[] = {
    {.about = {LISTED("glibc", "pthread", "system", "park", PARKS,
                      "the C library's own barrier, untouched: the reference",
                      "GNU C Library", "sleeps at every phase"),
               .bytes = sizeof(struct barrier)}},
#define BARRIER(id, title, prefix, kind, blocks, ...)                                  \
    {.about = {LISTED(title, "", kind, "spin-then-park", PARKS, __VA_ARGS__),          \
               .bytes = sizeof(struct barrier),                                        \
               .waiter_bytes = (blocks) * sizeof(struct barrier_block) / 100,          \
               .outside_bytes = sizeof(struct barrier_block)},                         \
     .operations = {.init = id##_init_entry,                                           \
                    .wait = id##_wait_entry,                                           \
                    .destroy = id##_destroy_entry}},
#include "barriers/barriers.def"
#undef BARRIER
};

enum { LENGTH = sizeof barrier_list / sizeof barrier_list[0] };

const unsigned barrier_list_length = LENGTH;
const unsigned barrier_default = LENGTH - 1; /* the last one */

void barrier_init(struct barrier *barrier, unsigned index, uint32_t count)
{
    *barrier = (struct barrier){.count = count, .kind = BARRIER_OURS | index};
    barrier_list[index].operations.init(barrier);
}

void barrier_destroy(struct barrier *barrier)
{
    if (!barrier->block)
        return;
    barrier_list[barrier->kind & BARRIER_INDEX].operations.destroy(barrier);
    barrier->block = 0;
}

int barrier_find(const char *name)
{
    for (int i = 0; i < (int)LENGTH; i++)
        if (lock_is_named(&barrier_list[i].about, name))
            return i;
    return -1;
}
