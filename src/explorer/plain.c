/* SPDX-License-Identifier: MIT */
/*
 * Plain memory: every access of the checked code to memory that threads share is
 * reported here by the compiler (its instrumentation for ThreadSanitizer, whose runtime
 * is not linked) and checked for races.
 */
#include "explorer/model.h"
#include "explorer/trail.h"

#include <string.h>

void plain_reset(void)
{
    for (unsigned i = 0; i < known.plains; i++)
        memcpy(known.plain[i].address, &known.plain[i].initial, known.plain[i].size);
}

struct knowledge {
    unsigned plain;
    uint8_t forget;
};

static void forget(struct view *view, void *argument)
{
    const struct knowledge *knowledge = argument;
    view->knows[knowledge->plain] &= (uint8_t)~knowledge->forget;
}

static unsigned plain_of(char *address, unsigned size)
{
    for (unsigned i = 0; i < known.plains; i++)
        if (known.plain[i].address == address && known.plain[i].size == size)
            return i;
    if (known.plains == PLAINS) {
        fail("limit", "more than %d plain variables", PLAINS);
        return 0;
    }
    unsigned fresh = known.plains++;
    views_visit(forget, &(struct knowledge){fresh, 0xff});
    for (int i = 0; i < VIEWS; i++)
        model.views[i].knows[fresh] = 0;
    known.plain[fresh].address = address;
    known.plain[fresh].size = size;
    known.plain[fresh].initial = 0;
    memcpy(&known.plain[fresh].initial, address, size);
    return fresh;
}

static void race(unsigned plain, int other, const char *mine, const char *theirs)
{
    fail("data race", "thread %d %s %s, unordered with what thread %d %s before",
         running_thread(), mine, cell_name(known.plain[plain].address), other, theirs);
}

static void read_plain(unsigned plain, int thread)
{
    struct plain_state *state = &model.plain[plain];
    uint8_t *mine = &model.thread[thread].view.knows[plain];
    if (state->written && !(*mine & KNOWS_WRITE)) {
        race(plain, state->writer, "reads", "wrote");
        return;
    }
    uint8_t self = (uint8_t)(1u << thread);
    views_visit(forget, &(struct knowledge){plain, self});
    state->readers |= self;
    *mine |= self;
}

static void write_plain(unsigned plain, int thread)
{
    struct plain_state *state = &model.plain[plain];
    uint8_t *mine = &model.thread[thread].view.knows[plain];
    if (state->written && !(*mine & KNOWS_WRITE)) {
        race(plain, state->writer, "writes", "wrote");
        return;
    }
    uint8_t unknown = state->readers & (uint8_t) ~(*mine | 1u << thread);
    if (unknown) {
        race(plain, __builtin_ctz(unknown), "writes", "read");
        return;
    }
    views_visit(forget, &(struct knowledge){plain, 0xff});
    *mine = KNOWS_WRITE;
    state->written = 1;
    state->writer = (uint8_t)thread;
    state->readers = 0;
}

static void access_granule(char *address, unsigned size, bool write)
{
    unsigned plain = plain_of(address, size);
    int thread = running_thread();
    if (write && !known.plain[plain].written)
        known.plain[plain].written = known.changed = true;
    if (!known.plain[plain].written || failed)
        return;
    if (write)
        write_plain(plain, thread);
    else
        read_plain(plain, thread);
    trail_add(&(struct trail_step){
        .thread = thread, .operation = write ? OP_WRITE : OP_READ, .address = address});
}

/* In granules of up to four bytes. */
void plain_access(const void *address, unsigned size, bool write)
{
    extern char __data_start, _end; /* of the linker: variables lie between */
    char *at = (char *)(uintptr_t)address;
    if (running_thread() < 0 || at < &__data_start || at >= &_end || on_a_stack(at))
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
