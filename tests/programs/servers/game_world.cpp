// SPDX-License-Identifier: MIT
// The loop of a game locks the world for each frame, and begins the next frame at
// once. The threads that bring the players' input need the world for a moment and
// hardly ever get it. The remedy is a lock that serves in turn.
#include <mutex>
#include <vector>

#include "server.h"

namespace
{

class World
{
  public:
    void step(std::uint64_t frame)
    {
        enter();
        std::uint64_t force = frame;
        for (std::size_t body = 0; body + 8 < bodies_.size(); body += 8) {
            force = checksum(&bodies_[body], 8 * sizeof bodies_[0], force);
            bodies_[body] += static_cast<std::uint32_t>(force & 1);
        }
        leave();
    }

    void steer(std::size_t body, std::uint32_t input)
    {
        enter();
        bodies_[body % bodies_.size()] ^= input;
        leave();
    }

  private:
    void enter()
    {
        if (server_fix("fair-lock"))
            fair_lock_acquire(&fair_);
        else
            world_mutex_.lock();
    }

    void leave()
    {
        if (server_fix("fair-lock"))
            fair_lock_release(&fair_);
        else
            world_mutex_.unlock();
    }

    std::mutex world_mutex_;
    fair_lock fair_ = FAIR_LOCK_INITIALIZER;
    std::vector<std::uint32_t> bodies_ = std::vector<std::uint32_t>(50000);
};

World *world;
std::mutex sessions_mutex;
std::uint64_t inputs;

void *run_frames(void *unused)
{
    for (std::uint64_t frame = 0; !server_stopping(); frame++)
        world->step(frame);
    return unused;
}

unsigned handle(request *request)
{
    char packet[1200] = {'k'};
    sleep_us(120); // the network
    std::uint64_t input = checksum(packet, sizeof packet, request->number);
    world->steer(random_below(request, 50000), static_cast<std::uint32_t>(input));
    std::lock_guard<std::mutex> guard(sessions_mutex);
    inputs++;
    return 1;
}

void setup()
{
    world = new World;
    server_background(run_frames, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"fair-lock", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
