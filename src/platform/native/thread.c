/* SPDX-License-Identifier: MIT */
#include "platform/platform.h"

#include <sys/syscall.h>

__thread struct this_thread this_thread;

uint32_t thread_id_learn(void)
{
    this_thread.id = (uint32_t)raw_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
    return this_thread.id;
}

void wait_end_asynchronous(void (*undo)(void *), void *argument)
{
    int type;
    if (!undo) {
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
        return;
    }
    pthread_cleanup_push(undo, argument);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
    pthread_cleanup_pop(0);
}
