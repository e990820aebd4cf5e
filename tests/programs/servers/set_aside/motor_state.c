/* SPDX-License-Identifier: MIT */
/* Controllers of motors share a state under a mutex that inherits priorities, though
 * all threads have the same one. The kernel gives such a mutex to its longest waiter,
 * so sections of two microseconds each cost a change of threads. */
#include "../server.h"

enum { MOTORS = 16, STEPS = 10 };

static struct {
    pthread_mutex_t state_mu;
    int64_t position[MOTORS], target[MOTORS];
} state;

static pthread_mutex_t alarm_mu = PTHREAD_MUTEX_INITIALIZER;
static unsigned alarms;

static int64_t step(unsigned motor, int64_t torque)
{
    unsigned char law[1200] = {0};
    pthread_mutex_lock(&state.state_mu);
    int64_t error = state.target[motor] - state.position[motor];
    error += (int64_t)(checksum(law, sizeof law, (uint64_t)error) & 1);
    state.position[motor] += error / 8 + torque;
    state.target[(motor + 1) % MOTORS] ^= error & 3;
    pthread_mutex_unlock(&state.state_mu);
    return error;
}

static unsigned handle(struct request *request)
{
    unsigned char filter[1000] = {0};
    for (unsigned i = 0; i < STEPS; i++) {
        int64_t error = step((unsigned)random_below(request, MOTORS), i & 1);
        request->random += checksum(filter, sizeof filter, (uint64_t)error) | 1;
    }
    if (request->number % 64 == 0) {
        pthread_mutex_lock(&alarm_mu);
        alarms++;
        pthread_mutex_unlock(&alarm_mu);
    }
    return STEPS;
}

static void setup(void)
{
    pthread_mutexattr_t how;
    pthread_mutexattr_init(&how);
    if (!server_fix("unfair-lock"))
        pthread_mutexattr_setprotocol(&how, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&state.state_mu, &how);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"unfair-lock", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
