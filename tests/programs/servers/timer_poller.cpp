// SPDX-License-Identifier: MIT
// A dispatcher looks for timers that are due, over and over again without a pause,
// under the mutex that threads need in order to arm a timer.
#include <mutex>
#include <vector>

#include "server.h"

namespace
{

class Timers
{
  public:
    void arm(std::uint64_t delay_ns)
    {
        std::uint64_t due = now_ns() + delay_ns;
        acquire();
        due_[next_++ % due_.size()] = due;
        release();
    }

    unsigned fire()
    {
        unsigned fired = 0;
        acquire();
        std::uint64_t now = now_ns();
        for (auto &due : due_) {
            if (due != 0 && due < now) {
                due = 0;
                fired++;
            }
            digest_ = (digest_ ^ due) * 31;
        }
        release();
        return fired;
    }

  private:
    void acquire()
    {
        if (server_fix("fair-lock"))
            fair_lock_acquire(&fair_);
        else
            wheel_mutex_.lock();
    }

    void release()
    {
        if (server_fix("fair-lock"))
            fair_lock_release(&fair_);
        else
            wheel_mutex_.unlock();
    }

    std::mutex wheel_mutex_;
    fair_lock fair_ = FAIR_LOCK_INITIALIZER;
    std::vector<std::uint64_t> due_ = std::vector<std::uint64_t>(30000);
    std::size_t next_ = 0;
    std::uint64_t digest_ = 0;
};

Timers timers;
std::mutex callbacks_mutex;
std::uint64_t callbacks, sessions[16];

void *dispatch(void *unused)
{
    while (!server_stopping()) {
        unsigned fired = timers.fire();
        if (fired > 0) {
            std::lock_guard<std::mutex> guard(callbacks_mutex);
            callbacks += fired;
        }
    }
    return unused;
}

unsigned handle(request *request)
{
    sleep_us(300); // the network
    timers.arm(50000 + random_below(request, 1000000));
    std::lock_guard<std::mutex> guard(callbacks_mutex);
    sessions[request->worker % 16]++;
    return 1;
}

void setup()
{
    server_background(dispatch, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"fair-lock", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
