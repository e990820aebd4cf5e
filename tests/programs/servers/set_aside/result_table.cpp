// SPDX-License-Identifier: MIT
// Thirty clients wait for the results of their own computations in one table. Whoever
// stores a result notifies all of them, and each looks for its own.
#include <array>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "../server.h"

namespace
{

constexpr unsigned CLIENTS = 30;

class ResultTable
{
  public:
    std::uint64_t wait_for(unsigned client)
    {
        std::unique_lock<std::mutex> guard(results_mutex_);
        std::condition_variable &stored =
            server_fix("signal-one") ? own_[client] : any_stored_;
        stored.wait(guard, [&] { return results_[client] != 0 || server_stopping(); });
        return std::exchange(results_[client], 0);
    }

    void store(unsigned client, std::uint64_t result)
    {
        std::lock_guard<std::mutex> guard(results_mutex_);
        results_[client] += result;
        if (server_fix("signal-one"))
            own_[client].notify_one();
        else
            any_stored_.notify_all();
    }

    void wake()
    {
        std::lock_guard<std::mutex> guard(results_mutex_);
        any_stored_.notify_all();
        for (std::condition_variable &one : own_)
            one.notify_all();
    }

  private:
    std::mutex results_mutex_;
    std::condition_variable any_stored_;
    std::array<std::condition_variable, CLIENTS> own_;
    std::array<std::uint64_t, CLIENTS> results_{};
};

ResultTable table;
unsigned numbers[CLIENTS];

void *run_client(void *argument)
{
    unsigned client = *static_cast<unsigned *>(argument);
    unsigned char page[400] = {};
    while (!server_stopping()) {
        page[0] = static_cast<unsigned char>(table.wait_for(client));
        page[1] = static_cast<unsigned char>(checksum(page, sizeof page, client));
        server_count(1);
    }
    return nullptr;
}

unsigned handle(request *request)
{
    unsigned char problem[1000] = {};
    std::uint64_t result = checksum(problem, sizeof problem, request->number);
    table.store(static_cast<unsigned>(random_below(request, CLIENTS)), result | 1);
    return 0;
}

void setup()
{
    for (unsigned i = 0; i < CLIENTS; i++) {
        numbers[i] = i;
        server_background(run_client, &numbers[i]);
    }
}

void stop()
{
    table.wake();
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"signal-one", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
