// SPDX-License-Identifier: MIT
// Renderers pack a texture now and then, and keep the atlas locked for several
// milliseconds of work. Seven threads that prepare levels nobody has asked for use the
// CPUs too, so the packer is off its CPU for most of that, and the others wait.
#include <mutex>
#include <vector>

#include "server.h"

namespace
{

constexpr unsigned LEVELS = 7;

class Atlas
{
  public:
    void pack(std::uint64_t texture)
    {
        std::lock_guard<std::mutex> guard(atlas_mutex_);
        for (unsigned pass = 0; pass < 80; pass++)
            texture = checksum(pixels_.data(), pixels_.size(), texture);
        pixels_[texture % pixels_.size()]++;
    }

    unsigned char sample(std::size_t at)
    {
        std::lock_guard<std::mutex> guard(atlas_mutex_);
        return pixels_[at % pixels_.size()];
    }

  private:
    std::mutex atlas_mutex_;
    std::vector<unsigned char> pixels_ = std::vector<unsigned char>(64000);
};

Atlas atlas;
std::mutex frames_mutex;
std::uint64_t frames;

void *prepare_level(void *unused)
{
    std::vector<char> level(70000, 'l');
    while (!server_stopping())
        level[0] = static_cast<char>(checksum(level.data(), level.size(), 5));
    return unused;
}

unsigned handle(request *request)
{
    sleep_us(200); // the display
    std::size_t at = random_below(request, 64000);
    if (request->number % 6 == request->worker % 6)
        atlas.pack(at);
    else
        request->random += atlas.sample(at);
    std::lock_guard<std::mutex> guard(frames_mutex);
    frames++;
    return 1;
}

void setup()
{
    unsigned levels = server_fix("fewer-threads") ? 1 : LEVELS;
    for (unsigned i = 0; i < levels; i++)
        server_background(prepare_level, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
