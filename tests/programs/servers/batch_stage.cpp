// SPDX-License-Identifier: MIT
// The stage that writes batches of rows is notified at the moment at which a batch
// becomes complete. If it is writing then, nobody hears that: afterwards it waits
// although a batch is there, until its wait times out. The remedy looks before it
// waits.
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "server.h"

namespace
{

class Stage
{
  public:
    void add(std::uint64_t row)
    {
        std::unique_lock<std::mutex> guard(rows_mutex_);
        room_.wait(guard, [this] { return rows_.size() < MOST || server_stopping(); });
        rows_.push_back(row);
        if (rows_.size() == BATCH)
            complete_.notify_one();
    }

    std::vector<std::uint64_t> take_batch()
    {
        std::unique_lock<std::mutex> guard(rows_mutex_);
        if (!server_fix("check-first") || rows_.size() < BATCH)
            complete_.wait_for(guard, std::chrono::milliseconds(4));
        std::vector<std::uint64_t> batch;
        batch.swap(rows_);
        room_.notify_all();
        return batch;
    }

    void wake()
    {
        std::lock_guard<std::mutex> guard(rows_mutex_);
        complete_.notify_all();
        room_.notify_all();
    }

  private:
    static constexpr std::size_t BATCH = 60, MOST = 150;
    std::mutex rows_mutex_;
    std::condition_variable complete_, room_;
    std::vector<std::uint64_t> rows_;
};

Stage stage;
std::mutex written_mutex;
std::uint64_t written;

void *write_batches(void *unused)
{
    while (!server_stopping()) {
        std::vector<std::uint64_t> batch = stage.take_batch();
        std::uint64_t sum = checksum(batch.data(), batch.size() * sizeof batch[0], 1);
        sleep_us(900); // the disk
        std::lock_guard<std::mutex> guard(written_mutex);
        written += sum % 2 + batch.size();
    }
    return unused;
}

unsigned handle(request *request)
{
    char line[5000] = {'l'};
    stage.add(checksum(line, sizeof line, request->number));
    return 1;
}

void setup()
{
    server_background(write_batches, nullptr);
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
