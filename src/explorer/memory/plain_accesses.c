/* SPDX-License-Identifier: MIT */
#include "explorer/memory/plain_accesses.h"

#include "explorer/base/coroutine.h"
#include "explorer/base/counterexample.h"
#include "explorer/base/names.h"
#include "explorer/base/verdict.h"
#include "explorer/memory/locations.h"
#include "explorer/memory/races.h"

static void race(const struct location *location, int other, const char *mine,
                 const char *theirs)
{
    fail("data race",
         "thread %d %s %s, and nothing orders this after a %s by thread %d",
         model.running, mine, cell_name(location->address), theirs, other);
}

static void access_granule(char *address, unsigned size, bool write)
{
    struct location *location = location_of(address, size, false);
    int thread = model.running;
    if (write) {
        location_note_write(location);
        model.thread[thread].iteration.idle = 0;
    }
    if (!is_tracked(location))
        return;
    const struct plain_state *state = &model.plain[location->plain];
    uint8_t readers = unordered_readers(location->plain, thread);
    bool ordered = write ? write_is_ordered(location->plain, thread)
                         : read_is_ordered(location->plain, thread);
    if (!ordered && write && readers)
        race(location, __builtin_ctz(readers), "writes", "read");
    else if (!ordered)
        race(location, state->writer, write ? "writes" : "reads", "write");
    counterexample_add(&(struct counterexample_step){
        .thread = thread, .operation = write ? OP_WRITE : OP_READ, .address = address});
}

/* In granules of up to four bytes. */
void plain_access(const void *address, unsigned size, bool write)
{
    extern char __data_start, _end; /* set by the linker, around all variables */
    char *at = (char *)(uintptr_t)address;
    if (model.running < 0 || at < &__data_start || at >= &_end || stack_of(at) >= 0)
        return; /* private to the thread, or constant */
    for (unsigned done = 0; done < size; done += 4)
        access_granule(at + done, size - done < 4 ? size - done : 4, write);
    coroutine_wipe();
}

/* --- called by the instrumented code --- */

#define ACCESS(name, size, write)                                                      \
    void __tsan_##name(const void *address);                                           \
    void __tsan_##name(const void *address)                                            \
    {                                                                                  \
        plain_access(address, size, write);                                            \
    }
#include "explorer/memory/instrumented_accesses.def"

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
