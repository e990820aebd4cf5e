/* SPDX-License-Identifier: MIT */
/* The process: its start, forks, and ends. */
#include "preload/profile/next.h"

#include "profiler/process.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>

struct process_calls process_calls(void)
{
    return (struct process_calls){
        .create = next.pthread_create,
        .mutex = {pthread_mutex_lock, pthread_mutex_unlock, next.pthread_mutex_lock,
                  next.pthread_mutex_unlock},
    };
}

static void forked(void)
{
    process_forked();
}

__attribute__((constructor)) static void construct(void)
{
    next_find();
    if (process_is_waiting())
        pthread_atfork(NULL, NULL, forked);
}

__attribute__((destructor)) static void destruct(void)
{
    process_ends_holding();
    process_ends(TRACE_EXITED);
}

/* The child's fork handlers, and what they lock, are not recorded: they run before it
 * can have a file of its own. */
static pid_t fork_by(pid_t (*fork_function)(void))
{
    struct recording *me = record_here.me;
    if (me)
        record_enter(me);
    else
        record_here.inside++;
    sampler_pause();
    pid_t child = fork_function();
    int error = errno;
    if (child == 0)
        process_forked();
    sampler_resume();
    if (child != 0 && me)
        record_leave(me);
    else if (child != 0 || record_here.inside)
        record_here.inside--;
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

/* The same as the C library's; nothing is run that registered for the end. */
EXPORT void _exit(int status)
{
    process_ends(TRACE_EXITED);
    for (;;)
        raw_syscall(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

EXPORT void _Exit(int status) __attribute__((alias("_exit")));

/* What replaces the program; it is back when that has failed. */
#define REPLACING(call)                                                                \
    bool ours = process_ends(TRACE_REPLACED);                                          \
    int result = (call);                                                               \
    if (ours)                                                                          \
        process_goes_on();                                                             \
    return result

EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
    REPLACING(next.execve(path, argv, envp));
}

EXPORT int execv(const char *path, char *const argv[])
{
    REPLACING(next.execv(path, argv));
}

EXPORT int execvp(const char *file, char *const argv[])
{
    REPLACING(next.execvp(file, argv));
}

EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
    REPLACING(next.execvpe(file, argv, envp));
}

EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
    REPLACING(next.fexecve(fd, argv, envp));
}
