/* SPDX-License-Identifier: MIT */
#include "platform/native/small_file.h"

#include "platform/platform.h"

#include <fcntl.h>
#include <sys/syscall.h>

long small_file_read(const char *path, char *text, size_t size)
{
    const long flags = O_RDONLY | O_CLOEXEC;
    long file = raw_syscall(SYS_openat, AT_FDCWD, (long)path, flags, 0, 0, 0);
    if (file < 0)
        return -1;
    size_t length = 0;
    long got;
    while ((got = raw_syscall(SYS_read, file, (long)(text + length),
                              (long)(size - 1 - length), 0, 0, 0)) > 0)
        length += (size_t)got;
    raw_syscall(SYS_close, file, 0, 0, 0, 0, 0);
    text[length] = '\0';
    return got < 0 ? -1 : (long)length;
}
