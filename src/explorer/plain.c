/* SPDX-License-Identifier: MIT */
/*
 * Plain memory: every access of the checked code to memory that threads share is
 * reported here by the compiler (its instrumentation for ThreadSanitizer, whose runtime
 * is not linked) and checked for races.
 */
#include "explorer/model.h"
#include "explorer/trail.h"

#include <string.h>

static void race(const struct place *place, int other, const char *mine,
                 const char *theirs)
{
    fail("data race", "thread %d %s %s, unordered with what thread %d %s before",
         running_thread(), mine, cell_name(place->address), other, theirs);
}

static void access_granule(char *address, unsigned size, bool write)
{
    struct place *place = place_of(address, size, false);
    int thread = running_thread();
    if (write) {
        place_is_written(place);
        model.thread[thread].turn.idle = 0;
    }
    if (!is_tracked(place))
        return;
    const struct plain_state *state = &model.plain[place->plain];
    uint8_t readers = unordered_readers(place->plain, thread);
    bool ordered = write ? write_is_ordered(place->plain, thread)
                         : read_is_ordered(place->plain, thread);
    if (!ordered && write && readers)
        race(place, __builtin_ctz(readers), "writes", "read");
    else if (!ordered)
        race(place, state->writer, write ? "writes" : "reads", "wrote");
    trail_add(&(struct trail_step){
        .thread = thread, .operation = write ? OP_WRITE : OP_READ, .address = address});
}

/* In granules of up to four bytes. */
void plain_access(const void *address, unsigned size, bool write)
{
    extern char __data_start, _end; /* of the linker: variables lie between */
    char *at = (char *)(uintptr_t)address;
    if (running_thread() < 0 || at < &__data_start || at >= &_end || stack_of(at) >= 0)
        return; /* nobody else's, or a constant */
    for (unsigned done = 0; done < size; done += 4)
        access_granule(at + done, size - done < 4 ? size - done : 4, write);
    coroutine_wipe();
}

/* --- what the compiler calls --- */

#define ACCESS(name, size, write)                                                      \
    void __tsan_##name(const void *address);                                           \
    void __tsan_##name(const void *address)                                            \
    {                                                                                  \
        plain_access(address, size, write);                                            \
    }
ACCESS(read1, 1, false)
ACCESS(read2, 2, false)
ACCESS(read4, 4, false)
ACCESS(read8, 8, false)
ACCESS(read16, 16, false)
ACCESS(write1, 1, true)
ACCESS(write2, 2, true)
ACCESS(write4, 4, true)
ACCESS(write8, 8, true)
ACCESS(write16, 16, true)
ACCESS(unaligned_read2, 2, false)
ACCESS(unaligned_read4, 4, false)
ACCESS(unaligned_read8, 8, false)
ACCESS(unaligned_read16, 16, false)
ACCESS(unaligned_write2, 2, true)
ACCESS(unaligned_write4, 4, true)
ACCESS(unaligned_write8, 8, true)
ACCESS(unaligned_write16, 16, true)

void __tsan_read_range(const void *address, unsigned long size);
void __tsan_read_range(const void *address, unsigned long size)
{
    plain_access(address, (unsigned)size, false);
}
void __tsan_write_range(const void *address, unsigned long size);
void __tsan_write_range(const void *address, unsigned long size)
{
    plain_access(address, (unsigned)size, true);
}
void __tsan_init(void);
void __tsan_init(void)
{
}
void __tsan_func_entry(void *caller);
void __tsan_func_entry(void *caller)
{
    (void)caller;
}
void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}
