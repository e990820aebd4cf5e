/* SPDX-License-Identifier: MIT */
#include "profiler/store/trace_file.h"

#include "platform/number_text.h"
#include "profiler/store/descriptors.h"
#include "profiler/store/sharing.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MOST_FILES = 9999,
    PATH_BYTES = 4096,
    HOARD = 64,
    LEAST = 16 * TRACE_CHUNK, /* bytes mapped */
    RESERVE = 4, /* chunks kept for essential records when the file is full */
    THREAD_RESERVE = 2, /* of these, for records of threads: a thread that has no
                           record is not counted at all */
};

struct trace_header *trace;

static char file_path[PATH_BYTES + 8];
static int descriptor = -1;
static dev_t device; /* identify the file */
static ino_t inode;
static size_t mapped;
static struct atomic_u32 growing;
static uint32_t reserve_first, reserve_left; /* chunks */

/* Sets the file's name, with .2, .3 ... appended from the second on. */
static void name_file(const char *path, unsigned number)
{
    size_t length = strlen(path);
    memcpy(file_path, path, length + 1);
    if (number == 1)
        return;
    struct number_text digits;
    file_path[length] = '.';
    strcpy(file_path + length + 1, number_text(number, &digits));
}

static int open_file(int flags)
{
    long opened = raw_syscall(SYS_openat, AT_FDCWD, (long)file_path,
                              O_RDWR | O_CLOEXEC | flags, 0666, 0, 0);
    return opened < 0 ? -1 : (int)opened;
}

static bool still_ours(int candidate)
{
    struct stat status;
    return candidate >= 0 && fstat(candidate, &status) == 0 &&
           status.st_dev == device && status.st_ino == inode;
}

/* Opens the file again if the program has closed or replaced the descriptor. */
static bool have_descriptor(void)
{
    const int error = errno; /* lock functions must not change it */
    if (!still_ours(descriptor)) {
        int opened = open_file(0);
        descriptor = still_ours(opened) ? descriptor_move_up(opened) : -1;
        if (descriptor < 0 && opened >= 0)
            descriptor_close(opened);
    }
    errno = error;
    return descriptor >= 0;
}

/* For file systems without fallocate. */
static bool write_zeros(off_t offset, size_t bytes)
{
    static const char zeros[4096];
    for (; bytes; offset += (off_t)sizeof zeros, bytes -= sizeof zeros)
        if (raw_syscall(SYS_pwrite64, descriptor, (long)zeros, sizeof zeros, offset, 0,
                        0) != (long)sizeof zeros)
            return false;
    return true;
}

static bool allocate(off_t offset, size_t bytes)
{
    long result;
    do
        result = raw_syscall(SYS_fallocate, descriptor, 0, offset, (long)bytes, 0, 0);
    while (result == -EINTR);
    if (result == -EOPNOTSUPP || result == -ENOSYS)
        return write_zeros(offset, bytes);
    return result == 0;
}

static uint64_t limit_of(int resource)
{
    struct rlimit limit;
    return getrlimit(resource, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

/* Limits the size to RLIMIT_FSIZE, beyond which SIGXFSZ would kill the process. */
static uint64_t within_limits(uint64_t bytes)
{
    const uint64_t limit = limit_of(RLIMIT_FSIZE);
    if (limit < bytes)
        bytes = limit;
    const uint64_t most = (uint64_t)TRACE_FILE_CHUNKS * TRACE_CHUNK;
    if (bytes > most)
        bytes = most;
    return bytes / TRACE_CHUNK * TRACE_CHUNK;
}

/* Leaves most of a limited address space (`ulimit -v`) to the program, which would fail
 * to allocate memory or to create threads. */
static uint64_t share_of_address_space(uint64_t bytes)
{
    const uint64_t share = limit_of(RLIMIT_AS) / 4;
    return share < bytes ? share : bytes;
}

static bool create(const char *path)
{
    for (unsigned number = 1; number <= MOST_FILES; number++) {
        name_file(path, number);
        long opened = raw_syscall(SYS_openat, AT_FDCWD, (long)file_path,
                                  O_RDWR | O_CLOEXEC | O_CREAT | O_EXCL, 0666, 0, 0);
        if (opened >= 0) {
            descriptor = descriptor_move_up((int)opened);
            struct stat status;
            fstat(descriptor, &status);
            device = status.st_dev;
            inode = status.st_ino;
            return true;
        }
        if (opened != -EEXIST)
            break;
    }
    complain("no lock profile, cannot create the trace: ", file_path);
    return false;
}

/* Maps the whole limit, or half of it and so on if there is no address space. */
static bool map(uint64_t bytes)
{
    for (; bytes >= LEAST; bytes = bytes / 2 / TRACE_CHUNK * TRACE_CHUNK) {
        void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
        if (at == MAP_FAILED)
            continue;
        mapped = bytes;
        madvise(at, bytes, MADV_DONTDUMP);
        trace = at;
        return true;
    }
    return false;
}

bool trace_file_create(const char *path, uint64_t bytes_limit)
{
    if (strlen(path) >= PATH_BYTES || !create(path))
        return false;
    const uint64_t bytes = within_limits(share_of_address_space(bytes_limit));
    if (within_limits(LEAST) < LEAST) {
        complain("no lock profile, the limit of file sizes (ulimit -f) is too low for ",
                 file_path);
    } else if (!allocate(0, (1 + RESERVE) * TRACE_CHUNK)) {
        complain("no lock profile, no space for the trace: ", file_path);
    } else if (map(bytes)) {
        trace->bytes_limit = mapped;
        trace->chunks = 1 + RESERVE;
        reserve_first = 1;
        reserve_left = RESERVE;
        return true;
    } else {
        complain("no lock profile, cannot map the trace: ", file_path);
    }
    unlink(file_path);
    descriptor_close(descriptor);
    descriptor = -1;
    return false;
}

void trace_file_publish_header(void)
{
    uint64_t magic;
    memcpy(&magic, TRACE_MAGIC, sizeof magic);
    store_release((struct atomic_u64 *)(void *)trace->magic, magic);
}

void trace_file_discard(void)
{
    unlink(file_path);
    trace_file_forget();
}

void trace_file_forget(void)
{
    if (!trace)
        return;
    munmap(trace, mapped);
    trace = NULL;
    if (still_ours(descriptor))
        descriptor_close(descriptor);
    descriptor = -1;
    store_relaxed(&growing, 0);
}

/* Reports it once. Recording continues in the existing chunks. */
static void report_full(uint32_t reason)
{
    if (trace->full)
        return;
    trace->full = reason;
    complain(
        reason == 2
            ? "the trace has reached its limit; recording continues in existing space: "
            : "the disk is full; recording continues in the existing part of the "
              "trace: ",
        file_path);
}

bool trace_file_is_nearly_full(void)
{
    uint32_t most = (uint32_t)(mapped / TRACE_CHUNK);
    if (trace->chunks > most - most / 8)
        report_full(2);
    return trace->full;
}

bool trace_file_is_half_full(void)
{
    return trace->full || trace->chunks > mapped / TRACE_CHUNK / 2;
}

/* Allocates chunks after the last one. Returns the first number, or 0. */
static uint32_t grow(uint32_t count)
{
    uint32_t number = trace->chunks;
    size_t offset = (size_t)number * TRACE_CHUNK, bytes = (size_t)count * TRACE_CHUNK;
    if (offset + bytes > mapped) {
        report_full(2);
        return 0;
    }
    if (load_relaxed(&system_calls_forbidden))
        return 0;
    if (within_limits(offset + bytes) < offset + bytes) { /* lowered since the start */
        report_full(2);
        return 0;
    }
    if (trace->full == 1 || !have_descriptor() || !allocate((off_t)offset, bytes)) {
        report_full(1);
        return 0;
    }
    return number;
}

void trace_file_reserve(void)
{
    if (!brief_lock(&growing))
        return;
    uint32_t number = grow(HOARD);
    if (number) { /* replaces the rest of the reserve */
        reserve_first = number;
        reserve_left = HOARD;
        store_release((struct atomic_u32 *)(void *)&trace->chunks, number + HOARD);
    }
    brief_unlock(&growing);
}

/* Takes a chunk of the reserve; 0 if there is none. Locks and lock counts are not
 * essential, so they use it only after the program has given up system calls. */
static uint32_t take_reserve(enum trace_kind kind)
{
    bool spare = kind == TRACE_LOCKS || kind == TRACE_LOCK_COUNTS || kind == TRACE_FREE;
    if (reserve_left <= (kind == TRACE_THREADS ? 0 : THREAD_RESERVE) ||
        (spare && !load_relaxed(&system_calls_forbidden)))
        return 0;
    reserve_left--;
    return reserve_first++;
}

struct trace_chunk *trace_file_add_chunks(enum trace_kind kind, uint32_t record_bytes,
                                          uint32_t count)
{
    struct trace_chunk *chunk = NULL;
    if (!brief_lock(&growing))
        return NULL;
    uint32_t number = grow(count);
    if (!number && count == 1)
        number = take_reserve(kind);
    if (number) {
        chunk = trace_file_chunk(number);
        chunk->record_bytes = record_bytes;
        chunk->follow = count - 1;
        /* For whoever reads the file meanwhile: a chunk that counts is complete. */
        store_release((struct atomic_u32 *)(void *)&chunk->kind, kind);
        if (number == trace->chunks)
            store_release((struct atomic_u32 *)(void *)&trace->chunks, number + count);
    }
    brief_unlock(&growing);
    return chunk;
}

uint32_t trace_file_chunk_number(const struct trace_chunk *chunk)
{
    return (uint32_t)(((const unsigned char *)chunk - (unsigned char *)trace) /
                      TRACE_CHUNK);
}
