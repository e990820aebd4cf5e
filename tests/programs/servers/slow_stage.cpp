// SPDX-License-Identifier: MIT
// Serving threads hand frames to one encoder, which needs its CPU for all of the time
// and holds no lock while it works. They wait in the queue for room: not because of
// the queue's mutex, but because the encoder is slow.
#include <condition_variable>
#include <deque>
#include <mutex>

#include "server.h"

namespace
{

class FrameQueue
{
  public:
    void put(std::uint64_t frame)
    {
        std::unique_lock<std::mutex> guard(frames_mutex_);
        room_.wait(guard, [this] { return frames_.size() < 16 || server_stopping(); });
        frames_.push_back(frame);
        filled_.notify_one();
    }

    std::uint64_t take()
    {
        std::unique_lock<std::mutex> guard(frames_mutex_);
        filled_.wait(guard, [this] { return !frames_.empty() || server_stopping(); });
        if (frames_.empty())
            return 0;
        std::uint64_t frame = frames_.front();
        frames_.pop_front();
        room_.notify_one();
        return frame;
    }

    void wake_all()
    {
        std::lock_guard<std::mutex> guard(frames_mutex_);
        room_.notify_all();
        filled_.notify_all();
    }

  private:
    std::mutex frames_mutex_;
    std::condition_variable room_, filled_;
    std::deque<std::uint64_t> frames_;
};

FrameQueue queue;

void *encode(void *unused)
{
    static char macroblocks[400000];
    while (!server_stopping()) {
        std::uint64_t frame = queue.take();
        macroblocks[0] =
            static_cast<char>(checksum(macroblocks, sizeof macroblocks, frame));
        server_count(1);
    }
    return unused;
}

unsigned handle(request *request)
{
    char picture[20000] = {'p'};
    queue.put(checksum(picture, sizeof picture, request->number));
    return 0;
}

void setup()
{
    server_background(encode, nullptr);
}

void stop()
{
    queue.wake_all();
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {nullptr};
    static const service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
