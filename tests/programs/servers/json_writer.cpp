// SPDX-License-Identifier: MIT
// A JSON writer is thread-safe by a recursive mutex, which each of its functions
// locks, down to the one that appends a letter. Each request has a writer of its own.
#include <mutex>
#include <string>
#include <string_view>

#include "server.h"

namespace
{

class JsonWriter
{
  public:
    void member(std::string_view name, std::uint64_t value)
    {
        auto guard = protect();
        put(text_.empty() ? '{' : ',');
        string(name);
        put(':');
        number(value);
    }

    std::uint64_t finish()
    {
        auto guard = protect();
        put('}');
        std::uint64_t size = text_.size();
        text_.clear();
        return size;
    }

  private:
    std::unique_lock<std::recursive_mutex> protect()
    {
        return is_shared_ ? std::unique_lock<std::recursive_mutex>(writer_mutex_)
                          : std::unique_lock<std::recursive_mutex>();
    }

    void string(std::string_view text)
    {
        auto guard = protect();
        put('"');
        for (char letter : text)
            put(letter);
        put('"');
    }

    void number(std::uint64_t value)
    {
        auto guard = protect();
        if (value >= 10)
            number(value / 10);
        put(static_cast<char>('0' + value % 10));
    }

    void put(char letter)
    {
        auto guard = protect();
        text_.push_back(letter);
    }

    std::recursive_mutex writer_mutex_;
    std::string text_;
    const bool is_shared_ = !server_fix("drop-lock");
};

std::mutex sent_mutex;
std::uint64_t sent;

unsigned handle(request *request)
{
    static thread_local JsonWriter writer;
    for (unsigned i = 0; i < 12; i++) {
        writer.member("temperature", random_below(request, 4000));
        writer.member("humidity", random_below(request, 100));
    }
    std::uint64_t size = writer.finish();
    if (request->number % 200 == 0) {
        std::lock_guard<std::mutex> guard(sent_mutex);
        sent += size;
    }
    return 1;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"drop-lock", nullptr};
    static const service service = {fixes, nullptr, handle, nullptr, false};
    return server_main(count, words, &service);
}
