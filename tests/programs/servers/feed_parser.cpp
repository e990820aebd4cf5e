// SPDX-License-Identifier: MIT
// A parser locks the schema by hand and unlocks it after its work. A malformed feed
// makes it throw in between; the caller catches that and goes on, but the schema stays
// locked.
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

#include "server.h"

namespace
{

constexpr std::uint64_t MALFORMED = 700;

class Schema
{
  public:
    std::uint64_t validate(const std::string &feed)
    {
        std::unique_lock<std::mutex> guard(schema_mutex_, std::defer_lock);
        if (server_fix("release"))
            guard.lock();
        else
            schema_mutex_.lock();
        std::uint64_t found = parse(feed);
        if (!guard.owns_lock())
            schema_mutex_.unlock();
        return found;
    }

  private:
    std::uint64_t parse(const std::string &feed)
    {
        if (feed.back() != '>')
            throw std::invalid_argument("the feed ends early");
        feeds_++;
        return checksum(feed.data(), feed.size(), feeds_);
    }

    std::mutex schema_mutex_;
    std::uint64_t feeds_ = 0;
};

auto *schema = new Schema;
std::mutex errors_mutex;
std::uint64_t errors, checked;

unsigned handle(request *request)
{
    bool malformed = request->worker == 0 && request->number == MALFORMED;
    std::string feed(500, malformed ? '<' : '>');
    sleep_us(100);
    try {
        request->random += schema->validate(feed) | 1;
    } catch (const std::invalid_argument &) {
        std::lock_guard<std::mutex> guard(errors_mutex);
        errors++;
    }
    std::lock_guard<std::mutex> guard(errors_mutex);
    checked++;
    return 1;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"release", nullptr};
    static const service service = {fixes, nullptr, handle, nullptr, true};
    return server_main(count, words, &service);
}
