// SPDX-License-Identifier: MIT
// Every step of a request fetches the current settings: it copies a shared_ptr under
// a mutex. The remedy publishes the settings through an atomic pointer; old ones are
// kept until the end.
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "server.h"

namespace
{

struct Settings {
    std::uint64_t version = 0;
    std::uint64_t limits[8] = {100, 200, 300};
};

class SettingsHolder
{
  public:
    std::uint64_t limit(std::size_t index)
    {
        if (server_fix("use-atomic"))
            return published_.load(std::memory_order_acquire)->limits[index];
        std::shared_ptr<const Settings> held = current();
        return held->limits[index];
    }

    void replace(std::uint64_t version)
    {
        auto next = std::make_shared<Settings>();
        next->version = version;
        published_.store(next.get(), std::memory_order_release);
        std::lock_guard<std::mutex> guard(current_mutex_);
        old_.push_back(current_);
        current_ = std::move(next);
    }

  private:
    std::shared_ptr<const Settings> current()
    {
        std::lock_guard<std::mutex> guard(current_mutex_);
        return current_;
    }

    std::mutex current_mutex_;
    std::shared_ptr<const Settings> current_ = std::make_shared<Settings>();
    std::vector<std::shared_ptr<const Settings>> old_;
    alignas(64) std::atomic<const Settings *> published_{current_.get()};
};

SettingsHolder holder;
std::mutex denied_mutex;
std::uint64_t denied;

void *reload(void *unused)
{
    for (std::uint64_t version = 1; !server_stopping(); version++) {
        sleep_us(30000);
        holder.replace(version);
    }
    return unused;
}

unsigned handle(request *request)
{
    std::uint64_t used = 0;
    for (std::uint64_t step = 0; step < 50; step++) {
        used = checksum(&step, sizeof step, used + request->number);
        if (used % 1000 > holder.limit(step % 8))
            used++;
    }
    if (used % 64 == 0) {
        std::lock_guard<std::mutex> guard(denied_mutex);
        denied++;
    }
    return 50;
}

void setup()
{
    server_background(reload, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"use-atomic", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
