// SPDX-License-Identifier: MIT
// A load balancer takes the next backend in turn: one addition under a mutex, several
// times for each request. Health reports lock another mutex for longer, but seldom.
#include <atomic>
#include <mutex>

#include "../server.h"

namespace
{

constexpr unsigned BACKENDS = 24, CALLS = 16;

class Rotation
{
  public:
    unsigned next()
    {
        if (server_fix("use-atomic"))
            return atomic_turn_.fetch_add(1, std::memory_order_relaxed) % BACKENDS;
        std::lock_guard<std::mutex> guard(turn_mutex_);
        return turn_++ % BACKENDS;
    }

  private:
    std::mutex turn_mutex_;
    unsigned turn_ = 0;
    alignas(64) std::atomic<unsigned> atomic_turn_{0};
};

Rotation rotation;
std::mutex health_mutex;
unsigned char health[BACKENDS * 20];

unsigned handle(request *request)
{
    for (unsigned i = 0; i < CALLS; i++) {
        unsigned backend = rotation.next();
        request->random += checksum(&backend, sizeof backend, i);
    }
    if (request->number % 40 == 0) {
        std::lock_guard<std::mutex> guard(health_mutex);
        request->random += checksum(health, sizeof health, request->number) | 1;
        health[request->random % sizeof health]++;
    }
    return CALLS;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"use-atomic", "fewer-threads", nullptr};
    static const service service = {fixes, nullptr, handle, nullptr, false};
    return server_main(count, words, &service);
}
