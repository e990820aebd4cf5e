// SPDX-License-Identifier: MIT
// A device with one command channel. Threads that find it busy count that and try
// again; the one that got it computes the command's check code in the meantime.
#include <atomic>
#include <mutex>

#include "server.h"

namespace
{

class Device
{
  public:
    std::uint64_t command(std::uint64_t number)
    {
        if (server_fix("block-instead"))
            channel_.lock();
        else
            while (!channel_.try_lock())
                polls_.fetch_add(1, std::memory_order_relaxed);
        std::uint64_t answer = checksum(registers_, sizeof registers_, number);
        channel_.unlock();
        return answer;
    }

  private:
    std::mutex channel_;
    std::atomic<std::uint64_t> polls_{0};
    char registers_[20000] = {};
};

Device device;
std::mutex events_mutex;
std::uint64_t events;
char samples[20000];

/* Filters samples for another client; it has to share the CPUs with those that poll. */
void *filter(void *unused)
{
    std::uint64_t sum = 0;
    while (!server_stopping()) {
        sum = checksum(samples, sizeof samples, sum);
        server_count(1);
    }
    return unused;
}

unsigned handle(request *request)
{
    std::uint64_t answer = device.command(request->number);
    std::lock_guard<std::mutex> guard(events_mutex);
    events += answer & 1;
    return 1;
}

void setup()
{
    server_background(filter, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"block-instead", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
