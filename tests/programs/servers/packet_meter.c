/* SPDX-License-Identifier: MIT */
/* Meters packets under a spin lock, as a data path with one CPU per thread might. */
#include "server.h"

enum { FLOWS = 256 };

static pthread_spinlock_t meter_lock;
static pthread_mutex_t meter_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t alarm_mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t flows[FLOWS], alarms;

static void lock_meter(void)
{
    if (server_fix("use-mutex"))
        pthread_mutex_lock(&meter_mutex);
    else
        pthread_spin_lock(&meter_lock);
}

static void unlock_meter(void)
{
    if (server_fix("use-mutex"))
        pthread_mutex_unlock(&meter_mutex);
    else
        pthread_spin_unlock(&meter_lock);
}

static unsigned handle(struct request *request)
{
    char packet[1500] = {(char)request->number};
    uint64_t flow = checksum(packet, 400, request->random) % FLOWS;
    lock_meter();
    flows[flow] += sizeof packet;
    uint64_t load = checksum(flows, 1200, flow);
    unlock_meter();
    if (load % 1024 == 0) {
        pthread_mutex_lock(&alarm_mutex);
        alarms++;
        pthread_mutex_unlock(&alarm_mutex);
    }
    return 1;
}

static void setup(void)
{
    pthread_spin_init(&meter_lock, PTHREAD_PROCESS_PRIVATE);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"use-mutex", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
