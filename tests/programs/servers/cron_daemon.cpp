// SPDX-License-Identifier: MIT
// A daemon that has little to do. Its threads wait on a condition variable for jobs,
// of which a few are due every ten milliseconds. Each is notified for a job of its
// own.
#include <condition_variable>
#include <deque>
#include <mutex>

#include "server.h"

namespace
{

class Jobs
{
  public:
    bool run_next()
    {
        std::uint64_t job = 0;
        {
            std::unique_lock<std::mutex> guard(jobs_mutex_);
            due_.wait(guard, [this] { return !jobs_.empty() || server_stopping(); });
            if (jobs_.empty())
                return false;
            job = jobs_.front();
            jobs_.pop_front();
        }
        char script[30000] = {'#'};
        std::uint64_t status = checksum(script, sizeof script, job);
        std::lock_guard<std::mutex> guard(history_mutex_);
        history_[status % 100] = job;
        return true;
    }

    void add(std::uint64_t job)
    {
        {
            std::lock_guard<std::mutex> guard(jobs_mutex_);
            jobs_.push_back(job);
        }
        due_.notify_one();
    }

    void wake_all()
    {
        std::lock_guard<std::mutex> guard(jobs_mutex_);
        due_.notify_all();
    }

  private:
    std::mutex jobs_mutex_, history_mutex_;
    std::condition_variable due_;
    std::deque<std::uint64_t> jobs_;
    std::uint64_t history_[100] = {};
};

Jobs jobs;

void *watch_clock(void *unused)
{
    for (std::uint64_t minute = 0; !server_stopping(); minute++) {
        sleep_us(10000);
        for (std::uint64_t job = 0; job < 3; job++)
            jobs.add(minute * 3 + job);
    }
    return unused;
}

unsigned handle(request *request)
{
    request->random ^= request->number;
    return jobs.run_next();
}

void setup()
{
    server_background(watch_clock, nullptr);
}

void stop()
{
    jobs.wake_all();
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {nullptr};
    static const service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
