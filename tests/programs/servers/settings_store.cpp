// SPDX-License-Identifier: MIT
// Settings are read all the time and parsed anew, under the writers' lock, whenever a
// client sends a change.
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "server.h"

namespace
{

struct Settings {
    std::vector<std::string> values =
        std::vector<std::string>(512, std::string(200, 'x'));
};

std::vector<std::string> parse(const std::string &source)
{
    std::vector<std::string> values;
    for (unsigned i = 0; i < 512; i++)
        values.push_back(
            source.substr(checksum(source.data(), source.size(), i) % 100, 200));
    return values;
}

class SettingsStore
{
  public:
    std::uint64_t get(std::size_t number) const
    {
        std::shared_lock<std::shared_mutex> guard(mutex_);
        return checksum(settings_.values[number].data(), 20, 0);
    }

    void change(const std::string &source)
    {
        if (server_fix("shorten-writes")) {
            auto values = parse(source);
            std::unique_lock<std::shared_mutex> guard(mutex_);
            settings_.values.swap(values);
            return;
        }
        std::unique_lock<std::shared_mutex> guard(mutex_);
        settings_.values = parse(source);
    }

  private:
    mutable std::shared_mutex mutex_;
    Settings settings_;
};

SettingsStore store;
std::mutex changes_mutex;
std::uint64_t changes;
char request_text[500];

void *follow_changes(void *unused)
{
    while (!server_stopping()) {
        store.change(std::string(6000, 'a'));
        {
            std::lock_guard<std::mutex> guard(changes_mutex);
            changes++;
        }
        sleep_us(20);
    }
    return unused;
}

unsigned handle(request *request)
{
    std::uint64_t value = store.get(random_below(request, 512));
    return checksum(request_text, sizeof request_text, value) != 1;
}

void setup()
{
    server_background(follow_changes, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"shorten-writes", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
