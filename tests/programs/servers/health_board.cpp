// SPDX-License-Identifier: MIT
// Probes report the health of machines under the write lock of a rwlock, while four
// dashboards draw the whole board under the read lock, with short pauses.
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "server.h"

namespace
{

class Board
{
  public:
    Board()
    {
        pthread_rwlockattr_t attributes;
        pthread_rwlockattr_init(&attributes);
        if (server_fix("prefer-writers"))
            pthread_rwlockattr_setkind_np(&attributes,
                                          PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
        pthread_rwlock_init(&board_rw_, &attributes);
    }

    void report(std::size_t machine, unsigned char health)
    {
        pthread_rwlock_wrlock(&board_rw_);
        health_[machine % health_.size()] = health;
        pthread_rwlock_unlock(&board_rw_);
    }

    std::uint64_t draw(std::uint64_t seed)
    {
        pthread_rwlock_rdlock(&board_rw_);
        std::uint64_t sum = checksum(health_.data(), health_.size(), seed);
        pthread_rwlock_unlock(&board_rw_);
        return sum;
    }

  private:
    pthread_rwlock_t board_rw_;
    std::vector<unsigned char> health_ = std::vector<unsigned char>(50000);
};

Board *board;

void *show(void *unused)
{
    for (std::uint64_t frame = 0; !server_stopping(); frame++) {
        frame += board->draw(frame) & 1;
        sleep_us(10);
    }
    return unused;
}

unsigned handle(request *request)
{
    sleep_us(50); // the probe
    board->report(random_below(request, 50000), 'g');
    return 1;
}

void setup()
{
    board = new Board;
    for (unsigned i = 0; i < 4; i++)
        server_background(show, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"prefer-writers", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
