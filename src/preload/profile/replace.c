/* SPDX-License-Identifier: MIT */
/* Hooks of exec, which returns only on failure. */
#include "preload/profile/next.h"

#include "profiler/session/session.h"

#include <stdarg.h>

#define REPLACING(call)                                                                \
    bool ours = session_ends(TRACE_REPLACED);                                          \
    int result = (call);                                                               \
    if (ours)                                                                          \
        session_goes_on();                                                             \
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

EXPORT int execveat(int folder, const char *path, char *const argv[],
                    char *const envp[], int flags)
{
    REPLACING(next.execveat(folder, path, argv, envp, flags));
}

/* The variadic forms; the C library's would call execve by an internal name. The stack
 * is the only memory that a vfork child may use. */
static size_t length_of(const char *first, va_list *rest)
{
    size_t length = 0;
    for (const char *each = first; each; each = va_arg(*rest, const char *))
        length++;
    return length;
}

static void gather(char *argv[], const char *first, va_list *rest)
{
    while (first) {
        *argv++ = (char *)(uintptr_t)first;
        first = va_arg(*rest, const char *);
    }
    *argv = NULL;
}

#define LISTED(argv, rest, first)                                                      \
    va_list rest;                                                                      \
    va_start(rest, first);                                                             \
    char *argv[length_of(first, &rest) + 1];                                           \
    va_end(rest);                                                                      \
    va_start(rest, first);                                                             \
    gather(argv, first, &rest)

EXPORT int execl(const char *path, const char *first, ...)
{
    LISTED(argv, rest, first);
    va_end(rest);
    return execv(path, argv);
}

EXPORT int execlp(const char *file, const char *first, ...)
{
    LISTED(argv, rest, first);
    va_end(rest);
    return execvp(file, argv);
}

EXPORT int execle(const char *path, const char *first, ...)
{
    LISTED(argv, rest, first);
    char *const *environment = va_arg(rest, char *const *);
    va_end(rest);
    return execve(path, argv, environment);
}
