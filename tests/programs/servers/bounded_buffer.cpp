// SPDX-License-Identifier: MIT
// Thirty-two unpackers take archives from a bounded buffer. Since producers and
// consumers share one condition variable, each of them must notify all.
#include <condition_variable>
#include <deque>
#include <mutex>

#include "server.h"

namespace
{

class Buffer
{
  public:
    void put(std::uint64_t archive)
    {
        std::unique_lock<std::mutex> guard(archives_mutex_);
        auto room = [this] { return archives_.size() < MOST || server_stopping(); };
        (server_fix("signal-one") ? room_ : changed_).wait(guard, room);
        archives_.push_back(archive);
        notify(filled_);
    }

    std::uint64_t take()
    {
        std::unique_lock<std::mutex> guard(archives_mutex_);
        auto filled = [this] { return !archives_.empty() || server_stopping(); };
        (server_fix("signal-one") ? filled_ : changed_).wait(guard, filled);
        if (archives_.empty())
            return 0;
        std::uint64_t archive = archives_.front();
        archives_.pop_front();
        notify(room_);
        return archive;
    }

    void wake_all()
    {
        std::lock_guard<std::mutex> guard(archives_mutex_);
        changed_.notify_all();
        filled_.notify_all();
        room_.notify_all();
    }

  private:
    void notify(std::condition_variable &one)
    {
        if (server_fix("signal-one"))
            one.notify_one();
        else
            changed_.notify_all();
    }

    static constexpr std::size_t MOST = 32;
    std::mutex archives_mutex_;
    std::condition_variable changed_, filled_, room_;
    std::deque<std::uint64_t> archives_;
};

Buffer buffer;
std::mutex errors_mutex;
std::uint64_t errors;

void *unpack(void *unused)
{
    while (!server_stopping()) {
        std::uint64_t files = buffer.take();
        sleep_us(40); // the disk
        files = checksum(&files, sizeof files, 3);
        if (files % 64 == 0) {
            std::lock_guard<std::mutex> guard(errors_mutex);
            errors++;
        }
        server_count(1);
    }
    return unused;
}

unsigned handle(request *request)
{
    char archive[30000] = {'Z'};
    buffer.put(checksum(archive, sizeof archive, request->number));
    return 0;
}

void setup()
{
    unsigned unpackers = server_fix("fewer-threads") ? 2 : 32;
    for (unsigned i = 0; i < unpackers; i++)
        server_background(unpack, nullptr);
}

void stop()
{
    buffer.wake_all();
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"signal-one", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
