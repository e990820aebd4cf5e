// SPDX-License-Identifier: MIT
// Healthy: events come over a socket pair at the pace of their source, and serving
// threads wait on a condition variable until there is one. They are idle for most of
// the time, since there are few events. Each event wakes one thread.
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <sys/socket.h>
#include <unistd.h>

#include "../server.h"

namespace
{

class Events
{
  public:
    void put(std::uint64_t event)
    {
        std::lock_guard<std::mutex> guard(events_mutex_);
        events_.push_back(event);
        arrived_.notify_one();
    }

    std::uint64_t take()
    {
        std::unique_lock<std::mutex> guard(events_mutex_);
        arrived_.wait(guard, [this] { return !events_.empty() || server_stopping(); });
        if (events_.empty())
            return 0;
        std::uint64_t event = events_.front();
        events_.pop_front();
        return event;
    }

    void wake()
    {
        std::lock_guard<std::mutex> guard(events_mutex_);
        arrived_.notify_all();
    }

  private:
    std::mutex events_mutex_;
    std::condition_variable arrived_;
    std::deque<std::uint64_t> events_;
};

Events events;
int ends[2];

void *send_events(void *unused)
{
    for (std::uint64_t event = 1; !server_stopping(); event++) {
        if (write(ends[0], &event, sizeof event) != sizeof event)
            std::abort();
        sleep_us(700);
    }
    shutdown(ends[0], SHUT_RDWR);
    return unused;
}

void *receive(void *unused)
{
    std::uint64_t event;
    while (read(ends[1], &event, sizeof event) == sizeof event)
        events.put(event);
    return unused;
}

unsigned handle(request *request)
{
    std::uint64_t event = events.take();
    unsigned char document[60000] = {};
    request->random += checksum(document, sizeof document, event) | 1;
    return 1;
}

void setup()
{
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        std::abort();
    server_background(send_events, nullptr);
    server_background(receive, nullptr);
}

void stop()
{
    events.wake();
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {nullptr};
    static const service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
