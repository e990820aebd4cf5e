// SPDX-License-Identifier: MIT
// Uploads lease one of four buffers. Whoever returns one wakes all that wait for it,
// though only one of them can have it.
#include <condition_variable>
#include <mutex>
#include <vector>

#include "server.h"

namespace
{

constexpr unsigned UPLOADS = 40, BUFFERS = 4;

class BufferPool
{
  public:
    std::vector<char> *lease()
    {
        std::unique_lock<std::mutex> guard(free_mutex_);
        while (free_.empty() && !server_stopping())
            returned_.wait(guard);
        if (free_.empty())
            return nullptr;
        std::vector<char> *buffer = free_.back();
        free_.pop_back();
        return buffer;
    }

    void give_back(std::vector<char> *buffer)
    {
        std::lock_guard<std::mutex> guard(free_mutex_);
        free_.push_back(buffer);
        if (server_fix("signal-one"))
            returned_.notify_one();
        else
            returned_.notify_all();
    }

    void wake_all()
    {
        std::lock_guard<std::mutex> guard(free_mutex_);
        returned_.notify_all();
    }

  private:
    std::mutex free_mutex_;
    std::condition_variable returned_;
    std::vector<std::vector<char> *> free_;
};

BufferPool buffers;
std::mutex bytes_mutex;
std::uint64_t bytes;

void upload(std::uint64_t number)
{
    std::vector<char> *buffer = buffers.lease();
    if (!buffer)
        return;
    std::uint64_t sum = checksum(buffer->data(), buffer->size(), number);
    (*buffer)[sum % buffer->size()]++;
    sleep_us(20); // the network
    buffers.give_back(buffer);
    if (number % 16 == 0) {
        std::lock_guard<std::mutex> guard(bytes_mutex);
        bytes += sum % 9999;
    }
}

void *run_uploads(void *unused)
{
    for (std::uint64_t number = 0; !server_stopping(); number++) {
        upload(number);
        server_count(1);
    }
    return unused;
}

unsigned handle(request *request)
{
    upload(request->number);
    return 1;
}

void setup()
{
    for (unsigned i = 0; i < BUFFERS; i++)
        buffers.give_back(new std::vector<char>(9000, 'b'));
    unsigned uploads = server_fix("fewer-threads") ? 1 : UPLOADS;
    for (unsigned i = 0; i < uploads; i++)
        server_background(run_uploads, nullptr);
}

void stop()
{
    buffers.wake_all();
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"signal-one", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
