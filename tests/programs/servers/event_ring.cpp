// SPDX-License-Identifier: MIT
// Ten sources of events share a ring with the serving threads, behind a spin lock.
// There are always more threads than CPUs, so whoever loses its CPU in the section
// leaves the others spinning.
#include <cstdint>
#include <pthread.h>
#include <vector>

#include "server.h"

namespace
{

constexpr unsigned SOURCES = 10;

class EventRing
{
  public:
    EventRing()
    {
        pthread_spin_init(&ring_spin_, PTHREAD_PROCESS_PRIVATE);
        pthread_mutex_init(&ring_mutex_, nullptr);
    }

    void put(std::uint64_t event)
    {
        if (server_fix("use-mutex")) {
            pthread_mutex_lock(&ring_mutex_);
            store(event);
            pthread_mutex_unlock(&ring_mutex_);
            return;
        }
        pthread_spin_lock(&ring_spin_);
        store(event);
        pthread_spin_unlock(&ring_spin_);
    }

  private:
    void store(std::uint64_t event)
    {
        std::size_t slot = head_++ % (events_.size() - 190);
        events_[slot] = checksum(&events_[slot], 190 * sizeof events_[0], event);
    }

    pthread_spinlock_t ring_spin_;
    pthread_mutex_t ring_mutex_;
    std::size_t head_ = 0;
    std::vector<std::uint64_t> events_ = std::vector<std::uint64_t>(4096);
};

EventRing *ring;
pthread_mutex_t alarms_mutex = PTHREAD_MUTEX_INITIALIZER;
std::uint64_t alarms;

std::uint64_t sense(std::uint64_t number)
{
    char sample[12000] = {'e'};
    std::uint64_t event = checksum(sample, sizeof sample, number);
    ring->put(event);
    return event;
}

void *feed(void *unused)
{
    for (std::uint64_t number = 0; !server_stopping(); number++) {
        sense(number);
        server_count(1);
    }
    return unused;
}

unsigned handle(request *request)
{
    if (sense(request->number) % 500 == 0) {
        pthread_mutex_lock(&alarms_mutex);
        alarms++;
        pthread_mutex_unlock(&alarms_mutex);
    }
    return 1;
}

void setup()
{
    ring = new EventRing;
    unsigned sources = server_fix("fewer-threads") ? 1 : SOURCES;
    for (unsigned i = 0; i < sources; i++)
        server_background(feed, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"use-mutex", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
