// SPDX-License-Identifier: MIT
// An evictor walks the list of a cache without end. It lets go of the cache's mutex
// between two walks, but wants it back before anybody else has woken up.
#include <list>
#include <mutex>

#include "server.h"

namespace
{

class Cache
{
  public:
    Cache() : items_(12000, 1)
    {
    }

    void lock()
    {
        if (server_fix("fair-lock"))
            fair_lock_acquire(&fair_);
        else
            mutex_.lock();
    }

    void unlock()
    {
        if (server_fix("fair-lock"))
            fair_lock_release(&fair_);
        else
            mutex_.unlock();
    }

    void evict_old()
    {
        unsigned left = server_fix("shorten-section") ? 1200 : 12000;
        std::lock_guard<Cache> guard(*this);
        for (auto &item : items_) {
            item = checksum(&item, sizeof item, item) | 1;
            if (--left == 0)
                break;
        }
    }

    void touch(std::uint64_t value)
    {
        std::lock_guard<Cache> guard(*this);
        items_.front() = value;
        items_.splice(items_.end(), items_, items_.begin());
    }

  private:
    std::mutex mutex_;
    fair_lock fair_ = FAIR_LOCK_INITIALIZER;
    std::list<std::uint64_t> items_;
};

Cache *cache;
pthread_mutex_t ratio_lock = PTHREAD_MUTEX_INITIALIZER;
std::uint64_t hits;

void *evict(void *unused)
{
    while (!server_stopping())
        cache->evict_old();
    return unused;
}

unsigned handle(request *request)
{
    sleep_us(1000); /* a request comes in */
    cache->touch(request->random);
    pthread_mutex_lock(&ratio_lock);
    hits++;
    pthread_mutex_unlock(&ratio_lock);
    return 1;
}

void setup()
{
    cache = new Cache;
    server_background(evict, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"fair-lock", "shorten-section", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
