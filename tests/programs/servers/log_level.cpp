// SPDX-License-Identifier: MIT
// All threads read the levels of four loggers again and again. Each level lies beside
// the mutex of its logger's buffer, which the thread that logs locks without cease, so
// the levels' cache lines are seldom in the readers' caches. The remedy moves them
// apart.
#include <atomic>
#include <mutex>
#include <new>

#include "server.h"

namespace
{

constexpr unsigned MODULES = 4;

struct alignas(128) Line {
    unsigned char bytes[128];
};

struct Logger {
    std::mutex *buffer_mutex;
    std::atomic<unsigned> *level;
    std::uint64_t lines = 0;
};

Line memory[2 * MODULES]; // of the mutexes, and of levels that lie apart
Logger loggers[MODULES];
std::mutex done_mutex;
std::uint64_t done;

void append(Logger &logger)
{
    std::lock_guard<std::mutex> guard(*logger.buffer_mutex);
    logger.lines++;
}

void *log_packets(void *argument)
{
    auto *logger = static_cast<Logger *>(argument);
    while (!server_stopping())
        append(*logger);
    return nullptr;
}

unsigned level_of(unsigned module)
{
    return loggers[module].level->load(std::memory_order_relaxed);
}

unsigned handle(request *request)
{
    std::uint64_t value = request->number;
    for (unsigned step = 0; step < 400; step++)
        for (unsigned module = 0; module < MODULES; module++)
            value += level_of((module + value) % MODULES);
    request->random += value | 1;
    if (request->number % 64 == 0)
        append(loggers[value % MODULES]);
    if (request->number % 512 == 0) {
        std::lock_guard<std::mutex> guard(done_mutex);
        done += 512;
    }
    return 4;
}

void setup()
{
    for (unsigned module = 0; module < MODULES; module++) {
        Logger &logger = loggers[module];
        void *beside = &memory[module].bytes[sizeof(std::mutex)];
        void *apart = &memory[MODULES + module].bytes[0];
        logger.buffer_mutex = new (&memory[module].bytes[0]) std::mutex;
        logger.level =
            new (server_fix("pad") ? apart : beside) std::atomic<unsigned>(module);
        server_background(log_packets, &logger);
    }
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"pad", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
