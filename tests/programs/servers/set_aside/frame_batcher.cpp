// SPDX-License-Identifier: MIT
// An uploader sends frames whose transfer has been acknowledged. It waits on its
// condition variable before it looks at the acknowledgements, so those that came while
// it was busy lie there until a timeout of two milliseconds. The remedy looks first.
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "../server.h"

namespace
{

constexpr unsigned WINDOW = 8;

class Uploader
{
  public:
    void acknowledge()
    {
        std::unique_lock<std::mutex> guard(acks_mutex_);
        room_.wait(guard, [this] { return acks_ < WINDOW || server_stopping(); });
        acks_++;
        acknowledged_.notify_one();
    }

    unsigned take()
    {
        std::unique_lock<std::mutex> guard(acks_mutex_);
        if (!server_fix("check-first") || acks_ == 0)
            acknowledged_.wait_for(guard, std::chrono::milliseconds(2));
        unsigned taken = acks_;
        acks_ = 0;
        room_.notify_all();
        return taken;
    }

    void wake()
    {
        std::lock_guard<std::mutex> guard(acks_mutex_);
        room_.notify_all();
    }

  private:
    std::mutex acks_mutex_;
    std::condition_variable acknowledged_, room_;
    unsigned acks_ = 0;
};

Uploader uploader;
std::mutex preview_mutex;
std::uint64_t preview;

void *upload(void *unused)
{
    unsigned char frame[6000] = {};
    while (!server_stopping()) {
        unsigned taken = uploader.take();
        for (unsigned i = 0; i < taken; i++)
            frame[i] = static_cast<unsigned char>(checksum(frame, sizeof frame, i));
        server_count(taken);
    }
    return unused;
}

unsigned handle(request *request)
{
    unsigned char block[2500] = {};
    std::uint64_t value = checksum(block, sizeof block, request->number);
    uploader.acknowledge();
    std::lock_guard<std::mutex> guard(preview_mutex);
    preview += value & 1;
    return 0;
}

void setup()
{
    server_background(upload, nullptr);
}
void stop()
{
    uploader.wake();
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"check-first", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
