/* SPDX-License-Identifier: MIT */
/* Hooks of functions that may take away the right to create the trace file. */
#include "preload/profile/next.h"

#include "profiler/session/session.h"

EXPORT int setuid(uid_t user)
{
    session_needs_file();
    return next.setuid(user);
}

EXPORT int seteuid(uid_t user)
{
    session_needs_file();
    return next.seteuid(user);
}

EXPORT int setreuid(uid_t real, uid_t effective)
{
    session_needs_file();
    return next.setreuid(real, effective);
}

EXPORT int setresuid(uid_t real, uid_t effective, uid_t saved)
{
    session_needs_file();
    return next.setresuid(real, effective, saved);
}

EXPORT int chroot(const char *path)
{
    session_needs_file();
    return next.chroot(path);
}
