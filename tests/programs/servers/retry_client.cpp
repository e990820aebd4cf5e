// SPDX-License-Identifier: MIT
// A client of a message broker that refuses one publication in five. The client
// sleeps before it tries again, and keeps the session's mutex meanwhile.
#include <chrono>
#include <mutex>
#include <thread>

#include "server.h"

namespace
{

class Session
{
  public:
    void publish(request *request)
    {
        for (unsigned attempt = 0; attempt < 4; attempt++) {
            std::unique_lock<std::mutex> guard(session_mutex_);
            sequence_ = checksum(frame_, sizeof frame_, sequence_);
            if (random_below(request, 5) != 0)
                return;
            if (server_fix("move-blocking-out"))
                guard.unlock();
            std::this_thread::sleep_for(std::chrono::microseconds(150 << attempt));
        }
    }

    std::uint64_t sequence()
    {
        std::lock_guard<std::mutex> guard(session_mutex_);
        return sequence_;
    }

  private:
    std::mutex session_mutex_;
    unsigned char frame_[600] = {1};
    std::uint64_t sequence_ = 0;
};

Session session;
std::mutex topics_mutex;
std::uint64_t topics[12], keepalives;

void *keep_alive(void *unused)
{
    while (!server_stopping()) {
        sleep_us(20000);
        keepalives += session.sequence() & 1;
    }
    return unused;
}

unsigned handle(request *request)
{
    char message[1500] = {'m'};
    std::uint64_t topic = checksum(message, sizeof message, request->random) % 12;
    {
        std::lock_guard<std::mutex> guard(topics_mutex);
        topics[topic]++;
    }
    session.publish(request);
    return 1;
}

void setup()
{
    server_background(keep_alive, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"move-blocking-out", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
