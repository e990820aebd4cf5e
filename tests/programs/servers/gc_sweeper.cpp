// SPDX-License-Identifier: MIT
// A sweeper locks the heap for one block at a time, as it should, but so often that an
// allocating thread hardly ever finds the heap unlocked.
#include <mutex>
#include <vector>

#include "server.h"

namespace
{

class Heap
{
  public:
    void lock()
    {
        if (server_fix("fair-lock"))
            fair_lock_acquire(&fair_);
        else
            heap_mutex_.lock();
    }

    void unlock()
    {
        if (server_fix("fair-lock"))
            fair_lock_release(&fair_);
        else
            heap_mutex_.unlock();
    }

    void sweep_block(std::size_t number)
    {
        std::lock_guard<Heap> guard(*this);
        auto &block = blocks_[number % blocks_.size()];
        block[0] = checksum(block.data(), block.size(), number) & 1;
    }

    unsigned allocate(std::uint64_t random)
    {
        std::lock_guard<Heap> guard(*this);
        auto &block = blocks_[random % blocks_.size()];
        return block[random % block.size()]++;
    }

  private:
    std::mutex heap_mutex_;
    fair_lock fair_ = FAIR_LOCK_INITIALIZER;
    std::vector<std::vector<unsigned char>> blocks_ =
        std::vector<std::vector<unsigned char>>(64, std::vector<unsigned char>(12000));
};

Heap *heap;
std::mutex finalizers_mutex;
std::vector<unsigned> finalizers;

void *sweep(void *unused)
{
    for (std::size_t number = 0; !server_stopping(); number++)
        heap->sweep_block(number);
    return unused;
}

unsigned handle(request *request)
{
    sleep_us(60);
    unsigned object = heap->allocate(request->random += request->number);
    std::lock_guard<std::mutex> guard(finalizers_mutex);
    finalizers.push_back(object);
    if (finalizers.size() > 1000)
        finalizers.clear();
    return 1;
}

void setup()
{
    heap = new Heap;
    server_background(sweep, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"fair-lock", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
