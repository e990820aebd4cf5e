/* SPDX-License-Identifier: MIT */
/* A sandbox in which membarrier fails. */
#ifndef HASP_TESTS_UNIT_MAP_FORBID_H
#define HASP_TESTS_UNIT_MAP_FORBID_H

#include "../check.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline void forbid_membarrier(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
    CHECK_EQUAL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    /* Fails only in kernels without filters; nothing is forbidden there. */
    (void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

#endif
