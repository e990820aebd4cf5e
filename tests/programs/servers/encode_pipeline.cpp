// SPDX-License-Identifier: MIT
// Two stages of an encoder. The second waits for a notification before it looks into
// the queue, and misses those that were sent while it encoded.
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "server.h"

namespace
{

class Stage
{
  public:
    void push(std::uint64_t block)
    {
        std::unique_lock<std::mutex> guard(mutex_);
        space_.wait(guard, [this] { return blocks_.size() < 32 || server_stopping(); });
        blocks_.push_back(block);
        ready_.notify_one();
    }

    std::uint64_t pop()
    {
        using namespace std::chrono_literals;
        std::unique_lock<std::mutex> guard(mutex_);
        if (server_fix("check-first"))
            ready_.wait_for(guard, 2ms, [this] { return !blocks_.empty(); });
        else
            ready_.wait_for(guard, 2ms);
        if (blocks_.empty())
            return 0;
        std::uint64_t block = blocks_.front();
        blocks_.pop_front();
        space_.notify_one();
        return block;
    }

    void wake()
    {
        std::lock_guard<std::mutex> guard(mutex_);
        space_.notify_all();
        ready_.notify_all();
    }

  private:
    std::mutex mutex_;
    std::condition_variable ready_, space_;
    std::deque<std::uint64_t> blocks_;
};

Stage stage;
std::mutex bits_mutex;
std::uint64_t bits;
char macroblock[6000];

void *encode(void *unused)
{
    while (!server_stopping()) {
        std::uint64_t block = stage.pop();
        if (block == 0)
            continue;
        std::uint64_t coded = checksum(macroblock, sizeof macroblock, block);
        std::lock_guard<std::mutex> guard(bits_mutex);
        bits += coded % 4096;
        server_count(1);
    }
    return unused;
}

unsigned handle(request *request)
{
    stage.push(request->number + 1);
    return 0;
}

void setup()
{
    server_background(encode, nullptr);
    if (!server_fix("fewer-threads"))
        server_background(encode, nullptr);
}

void stop()
{
    stage.wake();
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"check-first", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
