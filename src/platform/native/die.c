/* SPDX-License-Identifier: MIT */
#include "platform/platform.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>

void complain(const char *text, const char *detail)
{
    const struct iovec parts[] = {
        {(void *)"hasp: ", 6},
        {(void *)text, strlen(text)},
        {(void *)detail, strlen(detail)},
        {(void *)"\n", 1},
    };
    raw_syscall(SYS_writev, 2, (long)parts, sizeof parts / sizeof parts[0], 0, 0, 0);
}

void die(const char *text)
{
    complain(text, "");
    abort();
}
