// SPDX-License-Identifier: MIT
// cancel() adopts the task list's mutex, because its first caller had locked it.
// Another caller, the watchdog, has not, so it unlocks a mutex that it does not
// hold.
#include <mutex>
#include <vector>

#include "server.h"

namespace
{

class Tasks
{
  public:
    void start(std::uint64_t id)
    {
        tasks_mutex_.lock();
        if (id % 64 == 0) {
            cancel(id); // unlocks
            return;
        }
        deadlines_[id % deadlines_.size()] = id;
        tasks_mutex_.unlock();
    }

    void watch(std::uint64_t id)
    {
        if (server_fix("fix-misuse"))
            tasks_mutex_.lock();
        cancel(id);
    }

  private:
    void cancel(std::uint64_t id)
    {
        std::lock_guard<std::mutex> guard(tasks_mutex_, std::adopt_lock);
        deadlines_[id % deadlines_.size()] = 0;
        canceled_++;
    }

    std::mutex tasks_mutex_;
    std::vector<std::uint64_t> deadlines_ = std::vector<std::uint64_t>(500);
    std::uint64_t canceled_ = 0;
};

Tasks tasks;
std::mutex owners_mutex;
std::uint64_t owners[10];

void *watchdog(void *unused)
{
    for (std::uint64_t id = 0; !server_stopping(); id++) {
        sleep_us(5000);
        tasks.watch(id);
    }
    return unused;
}

unsigned handle(request *request)
{
    sleep_us(200);
    tasks.start(random_below(request, 1u << 20));
    std::lock_guard<std::mutex> guard(owners_mutex);
    owners[request->worker % 10]++;
    return 1;
}

void setup()
{
    server_background(watchdog, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"fix-misuse", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
