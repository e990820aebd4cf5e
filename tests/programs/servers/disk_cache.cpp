// SPDX-License-Identifier: MIT
// Reads ahead: a request submits a read, works on its previous block, and then waits
// for the completion without a look whether the read is complete, which it is.
// Nobody notifies any more, so the wait lasts until its time limit.
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "server.h"

namespace
{

struct Read {
    std::uint64_t block = 0, data = 0;
    bool done = false;
    std::condition_variable completed;
};

class Disk
{
  public:
    void submit(Read &read)
    {
        std::lock_guard<std::mutex> guard(reads_mutex_);
        reads_.push_back(&read);
        submitted_.notify_one();
    }

    std::uint64_t wait_for(Read &read)
    {
        std::unique_lock<std::mutex> guard(reads_mutex_);
        auto limit = std::chrono::microseconds(800);
        auto done = [&read] { return read.done; };
        if (!server_fix("check-first"))
            read.completed.wait_for(guard, limit);
        read.completed.wait(guard, done);
        return read.data;
    }

    void complete_one()
    {
        std::unique_lock<std::mutex> guard(reads_mutex_);
        submitted_.wait(guard, [this] { return !reads_.empty() || server_stopping(); });
        if (reads_.empty())
            return;
        Read *read = reads_.front();
        reads_.pop_front();
        read->data = checksum(&read->block, sizeof read->block, 5);
        read->done = true;
        read->completed.notify_one();
    }

    bool idle()
    {
        std::lock_guard<std::mutex> guard(reads_mutex_);
        return reads_.empty();
    }

    void wake()
    {
        std::lock_guard<std::mutex> guard(reads_mutex_);
        submitted_.notify_all();
    }

  private:
    std::mutex reads_mutex_;
    std::condition_variable submitted_;
    std::deque<Read *> reads_;
};

Disk disk;
std::mutex hits_mutex;
std::uint64_t hits[8];

void *run_disk(void *unused)
{
    for (unsigned quiet = 0; quiet < 50;) {
        disk.complete_one();
        quiet = server_stopping() && disk.idle() ? quiet + 1 : 0;
        if (quiet > 0)
            sleep_us(1000);
    }
    return unused;
}

unsigned handle(request *request)
{
    char previous[60000] = {'p'};
    Read read;
    read.block = random_below(request, 1u << 20);
    disk.submit(read);
    std::uint64_t sum = checksum(previous, sizeof previous, request->number);
    sum ^= disk.wait_for(read);
    std::lock_guard<std::mutex> guard(hits_mutex);
    hits[sum % 8]++;
    return 1;
}

void setup()
{
    server_background(run_disk, nullptr);
}

void stop()
{
    disk.wake();
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"check-first", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
