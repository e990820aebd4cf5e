/* SPDX-License-Identifier: MIT */
/* Hooks for the start, fork and end of the process. Those of exec are in replace.c. */
#include "preload/profile/elision.h"
#include "preload/profile/next.h"

#include "profiler/session/session.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>

struct session_calls session_calls(void)
{
    return (struct session_calls){
        .create = next.pthread_create,
        .mutex = {pthread_mutex_lock, pthread_mutex_unlock, next.pthread_mutex_lock,
                  next.pthread_mutex_unlock},
    };
}

static void forked(void)
{
    session_forked();
}

/* Ends the recording at quick_exit, which runs no destructors. It runs after the
 * program's handlers. */
static void exits_quickly(void)
{
    session_ends(TRACE_EXITED);
}

__attribute__((constructor)) static void construct(void)
{
    next_find();
    if (!session_is_waiting())
        return;
    elision_watch();
    pthread_atfork(NULL, NULL, forked);
    at_quick_exit(exits_quickly);
}

__attribute__((destructor)) static void destruct(void)
{
    session_ends_holding();
    session_ends(TRACE_EXITED);
}

/* The child's fork handlers are not recorded: they run before the child has a file. */
struct forking {
    struct recording *me;
    bool paused;
};

static struct forking forking_begins(void)
{
    struct forking forking = {.me = record_here.me};
    if (forking.me)
        record_enter(forking.me);
    else
        record_here.inside++;
    forking.paused = sampler_pause();
    return forking;
}

static void forking_ends(const struct forking *forking, bool in_child)
{
    if (in_child)
        session_forked();
    if (forking->paused)
        sampler_resume();
    if (!in_child && forking->me)
        record_leave(forking->me);
    else if (!in_child || record_here.inside)
        record_here.inside--;
}

static pid_t fork_by(pid_t (*fork_function)(void))
{
    const struct forking forking = forking_begins();
    pid_t child = fork_function();
    int error = errno;
    forking_ends(&forking, child == 0);
    errno = error;
    return child;
}

EXPORT pid_t fork(void)
{
    return fork_by(next.fork);
}

EXPORT pid_t _Fork(void)
{
    return fork_by(next._Fork);
}

/* The C library's daemon() calls fork and _exit by internal names. */
EXPORT int daemon(int stay, int keep)
{
    const pid_t first = getpid();
    const bool ours = session_ends(TRACE_EXITED);
    const struct forking forking = forking_begins();
    int result = next.daemon(stay, keep);
    int error = errno;
    const bool in_child = getpid() != first;
    forking_ends(&forking, in_child);
    if (ours && !in_child)
        session_goes_on();
    errno = error;
    return result;
}

/* As in the C library, no exit handlers run. */
EXPORT void _exit(int status)
{
    session_ends(TRACE_EXITED);
    for (;;)
        raw_syscall(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

EXPORT void _Exit(int status) __attribute__((alias("_exit")));
