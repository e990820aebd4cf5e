/* SPDX-License-Identifier: MIT */
#include "platform/platform.h"

#include <sys/syscall.h>

__thread struct this_thread this_thread;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t ending;
static bool ending_exists;

static void thread_ends(void *function)
{
    ((void (*)(void))(uintptr_t)function)();
}

static void prepare_ending(void)
{
    ending_exists = pthread_key_create(&ending, thread_ends) == 0;
}

bool at_thread_end(void (*function)(void))
{
    pthread_once(&once, prepare_ending);
    return ending_exists &&
           pthread_setspecific(ending, (void *)(uintptr_t)function) == 0;
}

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
