// SPDX-License-Identifier: MIT
// Views are served from a scene that tracers refine. The tracers outnumber the CPUs by
// far. One that loses its CPU while it writes a tile back blocks all views for as long
// as the other tracers' turns take.
#include <mutex>
#include <vector>

#include "server.h"

namespace
{

class Scene
{
  public:
    void write_back(std::size_t tile, std::uint64_t light)
    {
        std::lock_guard<std::mutex> guard(tiles_mutex_);
        for (std::size_t i = 0; i < 12; i++)
            tiles_[(tile + i) % 64] = checksum(tiles_.data(), 64 * 8, light);
    }

    std::uint64_t view(std::size_t tile)
    {
        std::lock_guard<std::mutex> guard(tiles_mutex_);
        return tiles_[tile];
    }

  private:
    std::mutex tiles_mutex_;
    std::vector<std::uint64_t> tiles_ = std::vector<std::uint64_t>(64, 1);
};

Scene scene;
std::mutex viewers_mutex;
std::uint64_t viewers[10];

void *trace(void *argument)
{
    std::vector<unsigned char> rays(20000, 7);
    std::uint64_t light = reinterpret_cast<std::uintptr_t>(argument);
    while (!server_stopping()) {
        light = checksum(rays.data(), rays.size(), light);
        scene.write_back(light % 64, light);
    }
    return nullptr;
}

unsigned handle(request *request)
{
    sleep_us(150);
    std::uint64_t tile = scene.view(random_below(request, 64));
    std::lock_guard<std::mutex> guard(viewers_mutex);
    viewers[tile % 10]++;
    return 1;
}

void setup()
{
    std::uintptr_t tracers = server_fix("fewer-threads") ? 1 : 10;
    for (std::uintptr_t i = 0; i < tracers; i++)
        server_background(trace, reinterpret_cast<void *>(i));
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
