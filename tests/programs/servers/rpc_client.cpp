// SPDX-License-Identifier: MIT
// Calls are spread over six connections. The thread that receives a reply notifies all
// callers, and each looks whether it was its own.
#include <condition_variable>
#include <deque>
#include <mutex>

#include "server.h"

namespace
{

struct Call {
    std::uint64_t argument = 0, result = 0;
    bool taken = false, done = false;
    std::condition_variable own_reply;
};

class Connections
{
  public:
    std::uint64_t call(std::uint64_t argument)
    {
        Call call;
        call.argument = argument;
        std::unique_lock<std::mutex> guard(calls_mutex_);
        sent_.push_back(&call);
        request_.notify_one();
        auto ended = [&] { return call.done || (!call.taken && server_stopping()); };
        if (server_fix("signal-one"))
            call.own_reply.wait(guard, ended);
        else
            replied_.wait(guard, ended);
        if (!call.done)
            std::erase(sent_, &call);
        return call.result;
    }

    void receive()
    {
        std::unique_lock<std::mutex> guard(calls_mutex_);
        request_.wait(guard, [this] { return !sent_.empty() || server_stopping(); });
        if (server_stopping())
            return;
        Call *call = sent_.front();
        sent_.pop_front();
        call->taken = true;
        guard.unlock();
        sleep_us(40); // the network
        guard.lock();
        call->result = checksum(&call->argument, sizeof call->argument, 3);
        call->done = true;
        if (server_fix("signal-one"))
            call->own_reply.notify_one();
        else
            replied_.notify_all();
    }

    void wake_all()
    {
        std::lock_guard<std::mutex> guard(calls_mutex_);
        request_.notify_all();
        replied_.notify_all();
        for (Call *call : sent_)
            call->own_reply.notify_all();
    }

  private:
    std::mutex calls_mutex_;
    std::condition_variable request_, replied_;
    std::deque<Call *> sent_;
};

Connections connections;
std::mutex latency_mutex;
std::uint64_t latency[20];

void *receive_replies(void *unused)
{
    while (!server_stopping())
        connections.receive();
    return unused;
}

void call_once(std::uint64_t number)
{
    std::uint64_t result = connections.call(number);
    std::lock_guard<std::mutex> guard(latency_mutex);
    latency[result % 20]++;
}

void *synchronise(void *unused)
{
    for (std::uint64_t number = 0; !server_stopping(); number++) {
        call_once(number);
        server_count(1);
    }
    return unused;
}

unsigned handle(request *request)
{
    call_once(request->random);
    return 1;
}

void setup()
{
    for (unsigned i = 0; i < 6; i++)
        server_background(receive_replies, nullptr);
    unsigned others = server_fix("fewer-threads") ? 0 : 24;
    for (unsigned i = 0; i < others; i++)
        server_background(synchronise, nullptr);
}

void stop()
{
    connections.wake_all();
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"signal-one", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
