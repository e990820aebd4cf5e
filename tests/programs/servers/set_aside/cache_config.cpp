// SPDX-License-Identifier: MIT
// A cache locks its entries and then reads the configuration, shared. A new
// configuration is installed under its exclusive lock, and then the entries are locked
// to drop some. Both happen seldom and for an instant, so nobody has seen them wait
// for each other.
#include <mutex>
#include <shared_mutex>

#include "../server.h"

namespace
{

class Cache
{
  public:
    void refresh_entry(unsigned at)
    {
        std::lock_guard<std::mutex> entries(entries_mutex_);
        std::shared_lock<std::shared_mutex> config(config_mutex_);
        entries_[at % 64] = lifetime_;
    }

    void configure(unsigned lifetime)
    {
        if (server_fix("fix-order")) {
            std::lock_guard<std::mutex> entries(entries_mutex_);
            std::lock_guard<std::shared_mutex> config(config_mutex_);
            install(lifetime);
            return;
        }
        std::lock_guard<std::shared_mutex> config(config_mutex_);
        std::lock_guard<std::mutex> entries(entries_mutex_);
        install(lifetime);
    }

    unsigned read(unsigned at)
    {
        std::lock_guard<std::mutex> entries(entries_mutex_);
        return entries_[at % 64];
    }

  private:
    void install(unsigned lifetime)
    {
        lifetime_ = lifetime;
        entries_[lifetime % 64] = 0;
    }

    std::mutex entries_mutex_;
    std::shared_mutex config_mutex_;
    unsigned lifetime_ = 1, entries_[64] = {};
};

Cache cache;

void *watch_file(void *unused)
{
    for (unsigned lifetime = 2; !server_stopping(); lifetime++) {
        sleep_us(37000);
        cache.configure(lifetime);
    }
    return unused;
}

unsigned handle(request *request)
{
    unsigned char answer[2000] = {};
    request->random += checksum(answer, sizeof answer, request->number) | 1;
    sleep_us(1200);
    auto at = static_cast<unsigned>(random_below(request, 64));
    if (request->number % 14 == request->worker % 14)
        cache.refresh_entry(at);
    else
        request->random += cache.read(at) | 1;
    return 1;
}

void setup()
{
    server_background(watch_file, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"fix-order", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
