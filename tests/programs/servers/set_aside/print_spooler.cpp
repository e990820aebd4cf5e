// SPDX-License-Identifier: MIT
// A spooler has four trays, counted by a std::counting_semaphore. take_tray() waits
// for one with the spooler locked, and give_back() needs that lock to count it up
// again: when all are in use at once, nobody ever continues. The remedy waits before
// it locks.
#include <mutex>
#include <semaphore>

#include "../server.h"

namespace
{

constexpr unsigned TRAYS = 4;

class Spooler
{
  public:
    void take_tray()
    {
        if (server_fix("release"))
            trays_.acquire();
        std::lock_guard<std::mutex> guard(spooler_mutex_);
        if (!server_fix("release"))
            trays_.acquire();
        taken_++;
    }

    void give_back()
    {
        std::lock_guard<std::mutex> guard(spooler_mutex_);
        taken_--;
        trays_.release();
    }

  private:
    std::mutex spooler_mutex_;
    std::counting_semaphore<> trays_{TRAYS};
    unsigned taken_ = 0;
};

Spooler spooler;
std::mutex pages_mutex;
std::uint64_t pages;

// A large job takes all trays after some time, while others are in use.
void *run_large_job(void *unused)
{
    sleep_us(250000);
    for (unsigned i = 0; i < TRAYS; i++)
        spooler.take_tray();
    sleep_us(2000);
    for (unsigned i = 0; i < TRAYS; i++)
        spooler.give_back();
    return unused;
}

void *hold_tray(void *unused)
{
    while (!server_stopping()) {
        spooler.take_tray();
        sleep_us(3000);
        spooler.give_back();
    }
    return unused;
}

unsigned handle(request *request)
{
    spooler.take_tray();
    sleep_us(500);
    spooler.give_back();
    unsigned char page[1500] = {};
    request->random += checksum(page, sizeof page, request->number) | 1;
    std::lock_guard<std::mutex> guard(pages_mutex);
    pages++;
    return 1;
}

void setup()
{
    server_background(hold_tray, nullptr);
    server_background(run_large_job, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"release", nullptr};
    static const service service = {fixes, setup, handle, nullptr, true};
    return server_main(count, words, &service);
}
