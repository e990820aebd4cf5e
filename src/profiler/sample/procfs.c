/* SPDX-License-Identifier: MIT */
#include "profiler/sample/procfs.h"

#include "platform/native/small_file.h"
#include "platform/number_text.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

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

static uint64_t field(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

bool procfs_thread(uint32_t tid, struct procfs_thread *thread)
{
    char text[4096];
    char *at = read_stat(tid, text, sizeof text);
    if (!at)
        return false;
    /* state ppid pgrp session tty tpgid flags minflt cminflt majflt */
    for (int i = 0; i < 7 && at; i++)
        at = strchr(at + 1, ' ');
    if (!at)
        return false;
    thread->minor_faults = strtoull(at, &at, 10);
    strtoull(at, &at, 10);
    thread->major_faults = strtoull(at, &at, 10);
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

uint32_t procfs_threads(uint32_t enough)
{
    struct entry {
        uint64_t inode;
        int64_t offset;
        uint16_t bytes;
        uint8_t type;
        char name[];
    };
    _Alignas(8) char entries[1024];
    uint32_t alive = 0;
    long length, opened = raw_syscall(SYS_openat, AT_FDCWD, (long)"/proc/self/task",
                                      O_RDONLY | O_CLOEXEC | O_DIRECTORY, 0, 0, 0);
    if (opened < 0)
        return enough + 1;
    while (alive <= enough &&
           (length = raw_syscall(SYS_getdents64, opened, (long)entries, sizeof entries,
                                 0, 0, 0)) > 0) {
        for (long at = 0; at < length;) {
            const struct entry *entry = (const void *)(entries + at);
            at += entry->bytes;
            char state = 0;
            if (entry->name[0] != '.')
                state = procfs_state((uint32_t)strtoul(entry->name, NULL, 10));
            alive += state && state != 'Z' && state != 'X';
        }
    }
    raw_syscall(SYS_close, opened, 0, 0, 0, 0, 0);
    return alive;
}
