/* SPDX-License-Identifier: MIT */
#include "platform/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STAT_BYTES = 1024, FIELDS_TO_START = 19 };

/* A thread as the kernel describes it. */
struct description {
    char state;       /* 0: there is none */
    uint64_t started; /* in clock ticks since boot */
};

/* The name of the program, in parentheses, may contain anything; the state follows it,
 * and then numbers. */
static struct description parse_stat(char *text)
{
    struct description thread = {0, 0};
    char *at = strrchr(text, ')');
    if (!at || !at[1])
        return thread;
    thread.state = at[2];
    at += 2;
    for (int field = 0; at && field < FIELDS_TO_START; field++)
        at = strchr(at + 1, ' ');
    thread.started = at ? strtoull(at, NULL, 10) : 0;
    return thread;
}

/* Returns false if the file cannot be read; errno has the reason. */
static bool describe(uint32_t process, uint32_t thread, struct description *into)
{
    char path[64], text[STAT_BYTES];
    snprintf(path, sizeof path, "/proc/%u/task/%u/stat", process, thread);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    ssize_t bytes = read(file, text, sizeof text - 1);
    int error = errno;
    close(file);
    errno = error;
    if (bytes <= 0)
        return false;
    text[bytes] = 0;
    *into = parse_stat(text);
    return true;
}

bool name_this_thread(struct thread_name *name)
{
    uint32_t nobody = 0;
    int error = errno;
    uint32_t thread = (uint32_t)raw_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
    uint32_t process = (uint32_t)raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
    if (!compare_exchange_acq_rel(&name->thread, &nobody, thread))
        return false;
    struct description self = {0, 0};
    (void)describe(process, thread, &self);
    store_relaxed(&name->started, self.started);
    store_release(&name->process, process);
    errno = error;
    return true;
}

bool thread_is_gone(const struct thread_name *name)
{
    uint32_t process = load_acquire(&name->process);
    uint32_t thread = load_relaxed(&name->thread);
    uint64_t started = load_relaxed(&name->started);
    if (!process)
        return false;
    int error = errno;
    struct description now = {0, 0};
    bool gone;
    if (describe(process, thread, &now))
        gone = now.state == 'Z' || now.state == 'X' ||
               (started && now.started && now.started != started);
    else
        gone =
            raw_syscall(SYS_tgkill, (long)process, (long)thread, 0, 0, 0, 0) == -ESRCH;
    errno = error;
    return gone;
}
