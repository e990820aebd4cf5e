// SPDX-License-Identifier: MIT
// Every request evaluates its flags under a shared lock; operators' changes wait for a
// moment without any reader. Counts the changes that took effect.
#include <array>
#include <mutex>
#include <shared_mutex>

#include "server.h"

namespace
{

enum { FLAGS = 600 };

struct Flags {
    std::shared_mutex mutex;
    std::mutex turnstile; // for the remedy: a writer that waits keeps new readers out
    std::array<std::uint64_t, FLAGS> rules{};
};

Flags flags;
pthread_mutex_t exposure_lock = PTHREAD_MUTEX_INITIALIZER;
std::uint64_t exposures;

std::uint64_t evaluate(std::uint64_t user)
{
    if (server_fix("prefer-writers"))
        std::lock_guard<std::mutex> pass(flags.turnstile);
    std::shared_lock<std::shared_mutex> guard(flags.mutex);
    return checksum(flags.rules.data(), sizeof flags.rules, user);
}

unsigned handle(request *request)
{
    std::uint64_t result = evaluate(request->random);
    if (result % 128 == 0) {
        pthread_mutex_lock(&exposure_lock);
        exposures++;
        pthread_mutex_unlock(&exposure_lock);
    }
    random_below(request, 2);
    return 0;
}

void change(std::uint64_t value)
{
    std::unique_lock<std::mutex> pass(flags.turnstile, std::defer_lock);
    if (server_fix("prefer-writers"))
        pass.lock();
    std::unique_lock<std::shared_mutex> guard(flags.mutex);
    flags.rules[value % FLAGS]++;
}

void *operate(void *unused)
{
    for (std::uint64_t value = 0; !server_stopping(); value++) {
        change(value);
        server_count(1);
        sleep_us(300);
    }
    return unused;
}

void setup()
{
    server_background(operate, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"prefer-writers", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
