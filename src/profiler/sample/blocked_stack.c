/* SPDX-License-Identifier: MIT */
#include "profiler/sample/blocked_stack.h"

#include "platform/native/return_address.h"
#include "profiler/store/modules.h"
#include "profiler/store/stacks.h"
#include "profiler/trace.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    WORDS = 384,        /* of the stack */
    FRAMES = 8,         /* including the instruction */
    CANDIDATES = 48,    /* words that are addresses in a file */
    STACKS_MOST = 2048, /* different stacks; wrong guesses could produce many */
};

static uint32_t added;

void blocked_stack_forget(void)
{
    added = 0;
}

/* The process's memory as a file: the memory may be unmapped meanwhile, and a seccomp
 * filter may forbid process_vm_readv. */
static long open_memory(void)
{
    return raw_syscall(SYS_openat, AT_FDCWD, (long)"/proc/self/mem",
                       O_RDONLY | O_CLOEXEC, 0, 0, 0);
}

/* Returns how many bytes could be read. */
static size_t copy(long memory, void *to, uint64_t from, size_t bytes)
{
    long copied =
        raw_syscall(SYS_pread64, memory, (long)to, (long)bytes, (long)from, 0, 0);
    return copied > 0 ? (size_t)copied : 0;
}

static bool follows_call(long memory, uint64_t address)
{
    uint8_t code[CALL_BYTES];
    return copy(memory, code, address - CALL_BYTES, CALL_BYTES) == CALL_BYTES &&
           ends_in_call(code);
}

/* Adds the return addresses among the words to `depth` frames, and interns them. */
static uint32_t intern(long memory, uintptr_t frames[FRAMES], uint32_t depth,
                       const uint64_t *words, uint32_t count)
{
    uint32_t candidates = 0;
    for (uint32_t i = 0; i < count && depth < FRAMES && candidates < CANDIDATES; i++) {
        if (!modules_contain(words[i]))
            continue;
        candidates++;
        if (follows_call(memory, words[i]))
            frames[depth++] = words[i];
    }
    const uint32_t known = depth ? stack_find(frames, depth) : 0;
    if (known || !depth || added == STACKS_MOST)
        return known;
    added++;
    return stack_intern(frames, depth);
}

uint32_t callers_in(const uint64_t *words, uint32_t count)
{
    uintptr_t frames[FRAMES];
    const long memory = open_memory();
    if (memory < 0)
        return 0;
    const uint32_t stack = intern(memory, frames, 0, words, count);
    raw_syscall(SYS_close, memory, 0, 0, 0, 0, 0);
    return stack;
}

uint32_t blocked_stack(uint64_t instruction, uint64_t stack_pointer)
{
    uint64_t words[WORDS];
    uintptr_t frames[FRAMES] = {instruction};
    const long memory = open_memory();
    if (memory < 0)
        return 0;
    const size_t bytes = copy(memory, words, stack_pointer, sizeof words);
    const uint32_t stack =
        intern(memory, frames, 1, words, (uint32_t)(bytes / sizeof *words));
    raw_syscall(SYS_close, memory, 0, 0, 0, 0, 0);
    return stack;
}
