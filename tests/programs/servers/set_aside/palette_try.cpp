// SPDX-License-Identifier: MIT
// Encoders share a palette. With std::try_to_lock, an encoder that finds it in use
// sleeps for two milliseconds and tries again, though the palette is in use for forty
// microseconds at a time. The remedy waits in the lock.
#include <mutex>
#include <vector>

#include "../server.h"

namespace
{

class Palette
{
  public:
    std::uint64_t match(std::uint64_t colour)
    {
        std::unique_lock<std::mutex> guard(palette_mutex_, std::defer_lock);
        if (server_fix("block-instead"))
            guard.lock();
        while (!guard.owns_lock() && !guard.try_lock())
            sleep_us(2000);
        colour = checksum(entries_.data(), entries_.size(), colour);
        entries_[colour % entries_.size()]++;
        return colour;
    }

  private:
    std::mutex palette_mutex_;
    std::vector<unsigned char> entries_ = std::vector<unsigned char>(40000);
};

Palette palette;
std::mutex frames_mutex;
std::uint64_t frames;

unsigned handle(request *request)
{
    std::uint64_t colour = palette.match(request->number);
    sleep_us(60); // the camera
    unsigned char frame[20000] = {};
    request->random += checksum(frame, sizeof frame, colour) | 1;
    std::lock_guard<std::mutex> guard(frames_mutex);
    frames++;
    return 1;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"block-instead", "fewer-threads", nullptr};
    static const service service = {fixes, nullptr, handle, nullptr, false};
    return server_main(count, words, &service);
}
