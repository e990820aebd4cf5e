/* SPDX-License-Identifier: MIT */
/* Initialises the library, before the constructors of the program run. */
#include "rwlocks/read_holds.h"

#include <pthread.h>

/* Runs in the child of every fork(). */
static void forked(void)
{
    thread_id_forget();
    fork_in_child();
    read_holds_in_child();
}

static __attribute__((constructor(102))) void start(void)
{
    fork_watch();
    pthread_atfork(NULL, NULL, forked);
}
