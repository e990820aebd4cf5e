// SPDX-License-Identifier: MIT
// Threads submit commands to a ring that takes one at a time. "Never block" was the
// rule, so they call try_lock() over and over, and take the CPUs from the transcoders.
#include <array>
#include <mutex>
#include <vector>

#include "server.h"

namespace
{

class CommandRing
{
  public:
    void submit(std::uint64_t command)
    {
        if (server_fix("block-instead"))
            ring_mutex_.lock();
        else
            while (!ring_mutex_.try_lock())
                ;
        commands_[command % commands_.size()] = command;
        tail_ = checksum(commands_.data(), sizeof commands_, tail_);
        ring_mutex_.unlock();
    }

  private:
    std::mutex ring_mutex_;
    std::array<std::uint64_t, 8000> commands_{};
    std::uint64_t tail_ = 0;
};

CommandRing ring;
std::mutex fences_mutex;
std::vector<std::uint64_t> fences(16);

void *transcode(void *unused)
{
    std::vector<unsigned char> picture(16000, 9);
    for (std::uint64_t sum = 0; !server_stopping(); server_count(1))
        picture[0] = static_cast<unsigned char>(
            sum = checksum(picture.data(), picture.size(), sum));
    return unused;
}

unsigned handle(request *request)
{
    ring.submit(request->random + request->number);
    std::lock_guard<std::mutex> guard(fences_mutex);
    fences[request->worker % 16] = request->number;
    return 1;
}

void setup()
{
    server_background(transcode, nullptr);
    server_background(transcode, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"block-instead", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
