// SPDX-License-Identifier: MIT
// A statistics view lists the slowest queries. Each look at it sorts the whole table
// of durations where it stands, under its mutex, to show the first ten.
#include <algorithm>
#include <mutex>
#include <vector>

#include "server.h"

namespace
{

struct Entry {
    std::uint64_t duration, query;
};

class Slowest
{
  public:
    std::vector<Entry> top()
    {
        if (server_fix("shorten-section")) {
            std::vector<Entry> copy(SIZE);
            {
                std::lock_guard<std::mutex> guard(durations_mutex_);
                copy = entries_;
            }
            return first_ten(copy);
        }
        std::lock_guard<std::mutex> guard(durations_mutex_);
        return first_ten(entries_);
    }

    void add(std::uint64_t query, std::uint64_t duration)
    {
        std::lock_guard<std::mutex> guard(durations_mutex_);
        entries_[query % SIZE] = {duration, query};
    }

  private:
    static constexpr std::size_t SIZE = 400;

    static std::vector<Entry> first_ten(std::vector<Entry> &entries)
    {
        std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
            return a.query * 2654435761u % 9973 < b.query * 2654435761u % 9973;
        });
        std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
            return a.duration > b.duration;
        });
        return {entries.begin(), entries.begin() + 10};
    }

    std::mutex durations_mutex_;
    std::vector<Entry> entries_ = std::vector<Entry>(SIZE);
};

Slowest slowest;
std::mutex users_mutex;
std::uint64_t users[50];

void *run_queries(void *unused)
{
    for (std::uint64_t query = 0; !server_stopping(); query++) {
        slowest.add(query, checksum(&query, sizeof query, 1) % 5000);
        sleep_us(400);
    }
    return unused;
}

unsigned handle(request *request)
{
    auto top = slowest.top();
    std::uint64_t view = 0;
    for (unsigned i = 0; i < 25; i++)
        view = checksum(top.data(), top.size() * sizeof top[0], view + i);
    std::lock_guard<std::mutex> guard(users_mutex);
    users[(view + request->worker) % 50]++;
    return 1;
}

void setup()
{
    for (std::uint64_t query = 0; query < 400; query++)
        slowest.add(query, query * 7919 % 4001);
    server_background(run_queries, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"shorten-section", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
