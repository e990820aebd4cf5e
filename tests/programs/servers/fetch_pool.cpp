// SPDX-License-Identifier: MIT
// A bounded pool of connections. Whoever returns one wakes all threads that wait.
#include <condition_variable>
#include <mutex>
#include <vector>

#include "server.h"

namespace
{

class ConnectionPool
{
  public:
    explicit ConnectionPool(int connections)
    {
        for (int i = 0; i < connections; i++)
            free_.push_back(i);
    }

    int take()
    {
        std::unique_lock<std::mutex> guard(mutex_);
        returned_.wait(guard, [this] { return !free_.empty() || server_stopping(); });
        if (free_.empty())
            return -1;
        int connection = free_.back();
        free_.pop_back();
        return connection;
    }

    void put(int connection)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        free_.push_back(connection);
        if (server_fix("signal-one"))
            returned_.notify_one();
        else
            returned_.notify_all();
    }

    void wake_all()
    {
        std::lock_guard<std::mutex> guard(mutex_);
        returned_.notify_all();
    }

  private:
    std::mutex mutex_;
    std::condition_variable returned_;
    std::vector<int> free_;
};

ConnectionPool *pool;
std::mutex totals_mutex;
std::uint64_t totals;

/* Fetches over one of the pool's two connections. */
void fetch(std::uint64_t number)
{
    int connection = pool->take();
    if (connection < 0)
        return;
    std::uint64_t answer = checksum(&number, sizeof number, number);
    sleep_us(50); /* the answer is on its way */
    pool->put(connection);
    std::lock_guard<std::mutex> guard(totals_mutex);
    totals += answer % 10;
}

void *prefetch(void *unused)
{
    for (std::uint64_t number = 0; !server_stopping(); number++) {
        fetch(number);
        server_count(1);
    }
    return unused;
}

unsigned handle(request *request)
{
    fetch(request->number);
    return 1;
}

void setup()
{
    pool = new ConnectionPool(2);
    unsigned helpers = server_fix("fewer-threads") ? 0 : 40;
    for (unsigned i = 0; i < helpers; i++)
        server_background(prefetch, nullptr);
}

void stop()
{
    pool->wake_all();
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"signal-one", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
