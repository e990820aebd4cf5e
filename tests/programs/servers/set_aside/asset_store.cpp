// SPDX-License-Identifier: MIT
// A game keeps its assets behind a "benaphore": an atomic counter of those that want
// the lock, and a semaphore that all but the first wait for. No function of pthread's
// mutexes takes part. The std::mutex of the loader is locked often and costs nothing.
#include <atomic>
#include <mutex>
#include <semaphore.h>
#include <vector>

#include "../server.h"

namespace
{

class Benaphore
{
  public:
    Benaphore()
    {
        sem_init(&queue_, 0, 0);
    }
    ~Benaphore()
    {
        sem_destroy(&queue_);
    }

    void lock()
    {
        if (wanting_.fetch_add(1, std::memory_order_acquire) > 0)
            while (sem_wait(&queue_) != 0)
                ;
    }

    void unlock()
    {
        if (wanting_.fetch_sub(1, std::memory_order_release) > 1)
            sem_post(&queue_);
    }

  private:
    std::atomic<int> wanting_{0};
    sem_t queue_;
};

class Assets
{
  public:
    std::uint64_t load(std::uint64_t name)
    {
        if (server_fix("shorten-section"))
            return checksum(bytes_.data(), bytes_.size(), name);
        std::lock_guard<Benaphore> guard(assets_lock_);
        return checksum(bytes_.data(), bytes_.size(), name);
    }

  private:
    Benaphore assets_lock_;
    std::vector<unsigned char> bytes_ = std::vector<unsigned char>(50000);
};

Assets assets;
std::mutex loader_mutex;
std::uint64_t loaded[16];

unsigned handle(request *request)
{
    std::uint64_t asset = assets.load(random_below(request, 500));
    for (unsigned i = 0; i < 4; i++) {
        std::lock_guard<std::mutex> guard(loader_mutex);
        loaded[asset % 16]++;
    }
    sleep_us(30); // the GPU
    return 1;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"shorten-section", "fewer-threads", nullptr};
    static const service service = {fixes, nullptr, handle, nullptr, false};
    return server_main(count, words, &service);
}
