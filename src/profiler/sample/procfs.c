/* SPDX-License-Identifier: MIT */
#include "profiler/sample/procfs.h"

#include "platform/native/small_file.h"
#include "platform/number_text.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

enum { TICK_NS = 10000000 }; /* USER_HZ: the unit of times in files named stat */

/* Reads /proc/self/task/TID/NAME. Returns the length, or 0 on error. */
static size_t read_of(uint32_t tid, const char *name, char *text, size_t bytes)
{
    char path[64] = "/proc/self/task/";
    struct number_text digits;
    strcat(strcat(path, number_text(tid, &digits)), name);
    const long length = small_file_read(path, text, bytes);
    return length > 0 ? (size_t)length : 0;
}

/* Returns the fields after the name, which may contain any character. */
static char *read_stat(uint32_t tid, char *text, size_t bytes)
{
    if (!read_of(tid, "/stat", text, bytes))
        return NULL;
    char *close = strrchr(text, ')');
    return close && close[1] == ' ' ? close + 2 : NULL;
}

char procfs_state(uint32_t tid)
{
    char text[512];
    const char *fields = read_stat(tid, text, sizeof text);
    return fields ? *fields : 0;
}

/* Returns the field that is `number` fields after this one, or NULL. */
static char *field_after(char *fields, unsigned number)
{
    while (fields && number--)
        fields = strchr(fields + 1, ' ');
    return fields;
}

bool procfs_state_and_cpu(uint32_t tid, struct procfs_state *state)
{
    enum { CPU = 36 }; /* fields after the state */
    char text[512];
    char *fields = read_stat(tid, text, sizeof text);
    const char *cpu = field_after(fields, CPU);
    if (!cpu)
        return false;
    *state = (struct procfs_state){*fields, (int)strtol(cpu, NULL, 10)};
    return true;
}

uint64_t procfs_accounted_at(uint32_t tid)
{
    static const char name[] = "se.exec_start";
    char text[4096]; /* ms with six decimals */
    if (!read_of(tid, "/sched", text, sizeof text))
        return 0;
    char *at = strstr(text, name);
    at = at ? strchr(at, ':') : NULL;
    if (!at)
        return 0;
    const uint64_t ms = strtoull(at + 1, &at, 10);
    return *at == '.' ? ms * 1000000 + strtoull(at + 1, NULL, 10) : 0;
}

bool procfs_call(uint32_t tid, struct procfs_call *call, bool *readable)
{
    char text[256];
    const size_t length = read_of(tid, "/syscall", text, sizeof text);
    *readable = length != 0;
    if (!length || text[0] == 'r') /* "running" */
        return false;
    char *at = text;
    *call = (struct procfs_call){.number = strtol(at, &at, 10)};
    for (int i = 0; call->number >= 0 && i < 6; i++) {
        uint64_t argument = strtoull(at, &at, 16);
        if (i < 3)
            call->argument[i] = argument;
    }
    call->stack_pointer = strtoull(at, &at, 16);
    call->instruction = strtoull(at, &at, 16);
    return true;
}

static uint64_t field(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

bool procfs_thread(uint32_t tid, struct procfs_thread *thread)
{
    char text[4096];
    char *at = read_stat(tid, text, sizeof text);
    const char *name = at ? strchr(text, '(') : NULL;
    if (!name)
        return false;
    const size_t length = (size_t)(at - name) - strlen("() ");
    *thread = (struct procfs_thread){.cpu_ns = 0};
    memcpy(thread->name, name + 1,
           length < sizeof thread->name ? length : sizeof thread->name);
    /* state ppid pgrp session tty tpgid flags minflt cminflt majflt cmajflt utime */
    at = field_after(at, 7);
    if (!at)
        return false;
    thread->minor_faults = strtoull(at, &at, 10);
    strtoull(at, &at, 10);
    thread->major_faults = strtoull(at, &at, 10);
    strtoull(at, &at, 10);
    thread->user_ns = strtoull(at, &at, 10) * TICK_NS;
    thread->system_ns = strtoull(at, &at, 10) * TICK_NS;
    if (!read_of(tid, "/schedstat", text, sizeof text))
        return false;
    thread->cpu_ns = strtoull(text, NULL, 10);
    if (!read_of(tid, "/status", text, sizeof text))
        return false;
    thread->voluntary = field(text, "\nvoluntary_ctxt_switches:");
    thread->involuntary = field(text, "\nnonvoluntary_ctxt_switches:");
    return true;
}

bool procfs_is_filtered(void)
{
    char text[4096];
    return read_of((uint32_t)raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0), "/status", text,
                   sizeof text) &&
           field(text, "\nSeccomp:") != 0;
}

uint64_t procfs_idle_ns(void)
{
    enum { IDLE = 3 }; /* fields before the idle time */
    char text[512]; /* the first line has the sums of all CPUs */
    if (small_file_read("/proc/stat", text, sizeof text) <= 0 ||
        strncmp(text, "cpu ", 4) != 0)
        return 0;
    char *at = text + 4;
    for (int i = 0; i < IDLE; i++)
        strtoull(at, &at, 10);
    const uint64_t idle = strtoull(at, &at, 10);
    const uint64_t waits_for_disk = strtoull(at, &at, 10);
    return (idle + waits_for_disk) * TICK_NS;
}

uint32_t procfs_machine_cpus(void)
{
    char text[1024], *end; /* for example "0-3,8\n" */
    unsigned long count = 0;
    if (small_file_read("/sys/devices/system/cpu/online", text, sizeof text) <= 0)
        return 0;
    for (char *at = text; *at >= '0' && *at <= '9'; at = *end ? end + 1 : end) {
        const unsigned long first = strtoul(at, &end, 10);
        const unsigned long last = *end == '-' ? strtoul(end + 1, &end, 10) : first;
        count += last - first + 1;
    }
    return (uint32_t)count;
}

/* A folder being read, without stdio. */
struct folder {
    long file;
    long length, at;
    _Alignas(8) char entries[1024];
};

static bool open_tasks(struct folder *folder)
{
    folder->length = folder->at = 0;
    folder->file = raw_syscall(SYS_openat, AT_FDCWD, (long)"/proc/self/task",
                               O_RDONLY | O_CLOEXEC | O_DIRECTORY, 0, 0, 0);
    return folder->file >= 0;
}

/* Returns the next thread's id, or 0 at the end. */
static uint32_t next_task(struct folder *folder)
{
    struct entry {
        uint64_t inode;
        int64_t offset;
        uint16_t bytes;
        uint8_t type;
        char name[];
    };
    for (;;) {
        if (folder->at >= folder->length) {
            folder->at = 0;
            folder->length =
                raw_syscall(SYS_getdents64, folder->file, (long)folder->entries,
                            sizeof folder->entries, 0, 0, 0);
            if (folder->length <= 0)
                return 0;
        }
        const struct entry *entry = (const void *)(folder->entries + folder->at);
        folder->at += entry->bytes;
        if (entry->name[0] != '.')
            return (uint32_t)strtoul(entry->name, NULL, 10);
    }
}

static void close_tasks(const struct folder *folder)
{
    raw_syscall(SYS_close, folder->file, 0, 0, 0, 0, 0);
}

uint32_t procfs_threads(uint32_t enough)
{
    struct folder folder;
    uint32_t alive = 0, tid;
    if (!open_tasks(&folder))
        return enough + 1;
    while (alive <= enough && (tid = next_task(&folder))) {
        char state = procfs_state(tid);
        alive += state && state != 'Z' && state != 'X';
    }
    close_tasks(&folder);
    return alive;
}

uint32_t procfs_tasks(uint32_t *tids, uint32_t most, uint32_t skipped)
{
    struct folder folder;
    uint32_t count = 0, tid;
    if (!open_tasks(&folder))
        return 0;
    while (count < most && (tid = next_task(&folder))) {
        if (skipped)
            skipped--;
        else
            tids[count++] = tid;
    }
    close_tasks(&folder);
    return count;
}
