/* SPDX-License-Identifier: MIT */
/* Transforms signals, which needs CPU time and nothing else. The plans are cached under
 * a rwlock and results are counted under a mutex, a few thousand times a second. */
#include "server.h"

enum { POINTS = 1024, PLANS = 4 };

static pthread_rwlock_t plans_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t results_lock = PTHREAD_MUTEX_INITIALIZER;
static double plans[PLANS][POINTS];
static uint64_t results;

/* A Haar transform. */
static double transform(double *signal, const double *plan)
{
    double half[POINTS];
    for (unsigned length = POINTS; length > 1; length /= 2) {
        for (unsigned i = 0; i < length / 2; i++) {
            half[i] = (signal[2 * i] + signal[2 * i + 1]) * plan[i];
            half[length / 2 + i] = (signal[2 * i] - signal[2 * i + 1]) * plan[i];
        }
        for (unsigned i = 0; i < length; i++)
            signal[i] = half[i];
    }
    return signal[0];
}

static unsigned handle(struct request *request)
{
    double signal[POINTS], plan[POINTS], sum = 0;
    pthread_rwlock_rdlock(&plans_lock);
    for (unsigned i = 0; i < POINTS; i++)
        plan[i] = plans[request->number % PLANS][i];
    pthread_rwlock_unlock(&plans_lock);
    for (unsigned pass = 0; pass < 100; pass++) {
        for (unsigned i = 0; i < POINTS; i++)
            signal[i] = (double)(i ^ pass);
        sum += transform(signal, plan);
    }
    pthread_mutex_lock(&results_lock);
    results += sum > 0;
    pthread_mutex_unlock(&results_lock);
    return 1;
}

static void setup(void)
{
    for (unsigned i = 0; i < PLANS * POINTS; i++)
        plans[i / POINTS][i % POINTS] = 0.5 + i % 3 * 0.01;
}

int main(int count, char **words)
{
    static const char *const fixes[] = {NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
