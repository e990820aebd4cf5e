// SPDX-License-Identifier: MIT
// A road network with a lock in each of 200,000 crossings. Traffic keeps to a few of
// them, but all have to be in memory.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "server.h"

namespace
{

struct Crossing {
    pthread_mutex_t *crossing_lock;
    std::uint32_t waiting = 0;
    std::uint32_t roads[3] = {};
};

std::vector<Crossing> crossings(200000);
std::vector<pthread_mutex_t> shared_locks(64);
pthread_mutex_t jams_lock = PTHREAD_MUTEX_INITIALIZER;
std::uint64_t jams;

pthread_mutex_t *new_lock()
{
    auto *lock = static_cast<pthread_mutex_t *>(std::malloc(sizeof(pthread_mutex_t)));
    pthread_mutex_init(lock, nullptr);
    return lock;
}

unsigned handle(request *request)
{
    sleep_us(80);
    auto &crossing = crossings[random_below(request, 900) * 17];
    pthread_mutex_lock(crossing.crossing_lock);
    crossing.waiting += 1;
    bool jammed = crossing.waiting % 100 == 0;
    pthread_mutex_unlock(crossing.crossing_lock);
    if (jammed) {
        pthread_mutex_lock(&jams_lock);
        jams++;
        pthread_mutex_unlock(&jams_lock);
    }
    return 1;
}

void setup()
{
    bool few = server_fix("fewer-locks");
    for (auto &lock : shared_locks)
        pthread_mutex_init(&lock, nullptr);
    for (std::size_t i = 0; i < crossings.size(); i++)
        crossings[i].crossing_lock = few ? &shared_locks[i % 64] : new_lock();
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"fewer-locks", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
