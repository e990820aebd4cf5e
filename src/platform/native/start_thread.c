/* SPDX-License-Identifier: MIT */
#include "platform/platform.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

static bool start_with(const pthread_attr_t *attributes, void *(*body)(void *),
                       void *argument)
{
    pthread_t thread;
    return pthread_create(&thread, attributes, body, argument) == 0;
}

static bool make_urgent(pthread_attr_t *attributes, int urgency)
{
    struct sched_param wanted = {
        .sched_priority = sched_get_priority_min(SCHED_FIFO) + urgency - 1};
    return pthread_attr_setinheritsched(attributes, PTHREAD_EXPLICIT_SCHED) == 0 &&
           pthread_attr_setschedpolicy(attributes, SCHED_FIFO) == 0 &&
           pthread_attr_setschedparam(attributes, &wanted) == 0;
}

bool start_thread(void *(*body)(void *), void *argument, int urgency)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    if (pthread_attr_init(&attributes))
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = urgency && make_urgent(&attributes, urgency) &&
                   start_with(&attributes, body, argument);
    if (!started) { /* not urgent, or the process may not use SCHED_FIFO */
        pthread_attr_setinheritsched(&attributes, PTHREAD_INHERIT_SCHED);
        started = start_with(&attributes, body, argument);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}
