// SPDX-License-Identifier: MIT
// Every thread has a logger of its own. The class was written to be shared, so each
// character goes in under a recursive mutex.
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "server.h"

namespace
{

class Logger
{
  public:
    void put(char letter)
    {
        if (server_fix("drop-lock")) {
            append(letter);
            return;
        }
        std::lock_guard<std::recursive_mutex> guard(buffer_mutex_);
        append(letter);
    }

    void write(std::string_view text)
    {
        for (char letter : text)
            put(letter);
    }

  private:
    void append(char letter)
    {
        buffer_[next_++ % sizeof buffer_] = letter;
    }

    std::recursive_mutex buffer_mutex_;
    unsigned next_ = 0;
    char buffer_[8192];
};

std::vector<std::unique_ptr<Logger>> loggers;
std::mutex rotation_mutex;
std::uint64_t rotations;

unsigned handle(request *request)
{
    loggers[request->worker]->write(
        "GET /index.html HTTP/1.1 200 4711 \"Mozilla/5.0\"\n");
    if (request->number % 1000 == 0) {
        std::lock_guard<std::mutex> guard(rotation_mutex);
        rotations++;
    }
    return 1;
}

void setup()
{
    for (unsigned i = 0; i < server_threads(); i++)
        loggers.push_back(std::make_unique<Logger>());
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"drop-lock", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
