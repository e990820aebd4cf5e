// SPDX-License-Identifier: MIT
// Dashboards read a table of sensors under a shared_mutex, which prefers readers.
// There is always one that reads, so the thread that stores new values seldom gets
// in. The remedy is a gate that a waiting writer closes.
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "server.h"

namespace
{

class SensorTable
{
  public:
    std::uint64_t average()
    {
        if (server_fix("prefer-writers"))
            std::lock_guard<std::mutex> wait_for_writer(gate_);
        std::shared_lock<std::shared_mutex> guard(values_mutex_);
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < values_.size(); i += 1500)
            sum = checksum(&values_[i], 1500 * sizeof values_[0], sum);
        return sum;
    }

    void store(std::uint64_t sensor, std::uint64_t value)
    {
        std::unique_lock<std::mutex> closed(gate_, std::defer_lock);
        if (server_fix("prefer-writers"))
            closed.lock();
        std::lock_guard<std::shared_mutex> guard(values_mutex_);
        values_[sensor % values_.size()] = value;
    }

  private:
    std::mutex gate_;
    std::shared_mutex values_mutex_;
    std::vector<std::uint64_t> values_ = std::vector<std::uint64_t>(15000, 20);
};

SensorTable table;
std::mutex alerts_mutex;
std::uint64_t alerts;

void *collect(void *unused)
{
    for (std::uint64_t sensor = 0; !server_stopping(); sensor++) {
        table.store(sensor, sensor * 37 % 101);
        server_count(20); // a sample that is not stored is lost
        sleep_us(100);
    }
    return unused;
}

unsigned handle(request *request)
{
    std::uint64_t average = table.average();
    if (average % 16 == request->worker % 16) {
        std::lock_guard<std::mutex> guard(alerts_mutex);
        alerts++;
    }
    return 1;
}

void setup()
{
    server_background(collect, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"prefer-writers", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
