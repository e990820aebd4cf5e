// SPDX-License-Identifier: MIT
// Lines wait in a buffer of bounded size for a shipper. It calls wait_for() before it
// looks into the buffer, and so sleeps for a millisecond in front of a full one if the
// notifications came while it was shipping.
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "server.h"

namespace
{

class Buffer
{
  public:
    void append(std::string line)
    {
        std::unique_lock<std::mutex> guard(lines_mutex_);
        room_.wait(guard, [this] { return lines_.size() < MOST || server_stopping(); });
        lines_.push_back(std::move(line));
        filled_.notify_one();
    }

    std::vector<std::string> take_all()
    {
        std::unique_lock<std::mutex> guard(lines_mutex_);
        auto ready = [this] { return !lines_.empty() || server_stopping(); };
        if (server_fix("check-first"))
            filled_.wait_for(guard, std::chrono::milliseconds(1), ready);
        else
            filled_.wait_for(guard, std::chrono::milliseconds(1));
        std::vector<std::string> taken;
        taken.swap(lines_);
        guard.unlock();
        room_.notify_all();
        return taken;
    }

    void wake_all()
    {
        std::lock_guard<std::mutex> guard(lines_mutex_);
        filled_.notify_all();
        room_.notify_all();
    }

  private:
    static constexpr std::size_t MOST = 40;
    std::mutex lines_mutex_;
    std::condition_variable filled_, room_;
    std::vector<std::string> lines_;
};

Buffer buffer;
std::mutex levels_mutex;
std::uint64_t levels[5];

void *ship(void *unused)
{
    std::uint64_t shipped = 0;
    while (!server_stopping()) {
        auto lines = buffer.take_all();
        for (const auto &line : lines)
            shipped = checksum(line.data(), line.size(), shipped);
        server_count(lines.size());
    }
    return unused;
}

unsigned handle(request *request)
{
    std::uint64_t level = random_below(request, 5);
    std::string line(200, static_cast<char>('A' + level));
    std::uint64_t tag = checksum(line.data(), line.size(), request->number);
    buffer.append(line + std::to_string(tag));
    std::lock_guard<std::mutex> guard(levels_mutex);
    levels[level]++;
    return 0;
}

void setup()
{
    server_background(ship, nullptr);
}

void stop()
{
    buffer.wake_all();
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"check-first", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
