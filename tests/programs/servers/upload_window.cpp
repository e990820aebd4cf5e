// SPDX-License-Identifier: MIT
// Twenty-four uploads share a window of four buffers. Whoever returns a buffer wakes
// all uploads that wait for one.
#include <condition_variable>
#include <mutex>

#include "server.h"

namespace
{

class Window
{
  public:
    void enter()
    {
        std::unique_lock<std::mutex> guard(window_mutex_);
        while (free_ == 0 && !server_stopping())
            returned_.wait(guard);
        free_--;
    }

    void leave()
    {
        std::lock_guard<std::mutex> guard(window_mutex_);
        free_++;
        if (server_fix("signal-one"))
            returned_.notify_one();
        else
            returned_.notify_all();
    }

    void wake_all()
    {
        std::lock_guard<std::mutex> guard(window_mutex_);
        returned_.notify_all();
    }

  private:
    std::mutex window_mutex_;
    std::condition_variable returned_;
    int free_ = 4;
};

Window window;

void *upload(void *unused)
{
    char buffer[4000] = {'u'};
    while (!server_stopping()) {
        window.enter();
        sleep_us(30); // the network
        buffer[0] = static_cast<char>(checksum(buffer, sizeof buffer, 1));
        window.leave();
        server_count(1);
    }
    return unused;
}

unsigned handle(request *request)
{
    char text[30000] = {'t'};
    request->random += checksum(text, sizeof text, request->number);
    sleep_us(100);
    return 0;
}

void setup()
{
    for (unsigned i = 0; i < 24; i++)
        server_background(upload, nullptr);
}

void stop()
{
    window.wake_all();
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"signal-one", nullptr};
    static const service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
