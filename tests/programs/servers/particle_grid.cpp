// SPDX-License-Identifier: MIT
// Particles move between the cells of a grid under a spin lock, which was chosen
// because "sections are short". A thread that loses its CPU in one makes all the
// others spin.
#include <cstdint>
#include <vector>

#include "server.h"

namespace
{

class Grid
{
  public:
    Grid()
    {
        pthread_spin_init(&grid_spin_, PTHREAD_PROCESS_PRIVATE);
        pthread_mutex_init(&grid_mutex_, nullptr);
    }

    std::uint64_t move(std::uint64_t from, std::uint64_t to)
    {
        enter();
        cells_[from]--;
        cells_[to]++;
        std::uint64_t near = to & ~511ull;
        std::uint64_t sum = checksum(&cells_[near], 512 * sizeof cells_[0], from);
        leave();
        return sum;
    }

  private:
    void enter()
    {
        if (server_fix("use-mutex"))
            pthread_mutex_lock(&grid_mutex_);
        else
            pthread_spin_lock(&grid_spin_);
    }

    void leave()
    {
        if (server_fix("use-mutex"))
            pthread_mutex_unlock(&grid_mutex_);
        else
            pthread_spin_unlock(&grid_spin_);
    }

    pthread_spinlock_t grid_spin_;
    pthread_mutex_t grid_mutex_;
    std::vector<std::uint64_t> cells_ = std::vector<std::uint64_t>(4096);
};

Grid *grid;
pthread_mutex_t frame_mutex = PTHREAD_MUTEX_INITIALIZER;
std::uint64_t frames;

unsigned handle(request *request)
{
    char force[16000] = {'x'};
    std::uint64_t to = checksum(force, sizeof force, request->random) % 4096;
    std::uint64_t sum = grid->move(random_below(request, 4096), to);
    if (sum % 512 == 0) {
        pthread_mutex_lock(&frame_mutex);
        frames++;
        pthread_mutex_unlock(&frame_mutex);
    }
    return 1;
}

void setup()
{
    grid = new Grid;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"use-mutex", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
