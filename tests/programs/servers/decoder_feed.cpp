// SPDX-License-Identifier: MIT
// One thread demultiplexes a stream, which takes nearly all its time. The decoders wait
// for packets on a condition variable, properly: they are faster than the stream.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <vector>

#include "server.h"

namespace
{

std::mutex packets_mutex;
std::condition_variable packet_ready;
std::deque<std::vector<unsigned char>> packets;
std::mutex clock_mutex;
std::uint64_t presentation_time;

void *demultiplex(void *unused)
{
    std::vector<unsigned char> stream(150000, 4);
    for (std::uint64_t at = 1; !server_stopping(); at++) {
        at = checksum(stream.data(), stream.size(), at);
        std::vector<unsigned char> packet(400, static_cast<unsigned char>(at));
        {
            std::lock_guard<std::mutex> guard(packets_mutex);
            packets.push_back(std::move(packet));
        }
        packet_ready.notify_one();
    }
    return unused;
}

unsigned handle(request *)
{
    std::unique_lock<std::mutex> guard(packets_mutex);
    packet_ready.wait(guard, [] { return !packets.empty() || server_stopping(); });
    if (packets.empty())
        return 0;
    std::vector<unsigned char> packet = std::move(packets.front());
    packets.pop_front();
    guard.unlock();
    std::uint64_t picture = 0;
    for (unsigned pass = 0; pass < 25; pass++)
        picture = checksum(packet.data(), packet.size(), picture);
    std::lock_guard<std::mutex> tick(clock_mutex);
    presentation_time += picture & 1;
    return 1;
}

void setup()
{
    server_background(demultiplex, nullptr);
}

void stop()
{
    std::lock_guard<std::mutex> guard(packets_mutex);
    packet_ready.notify_all();
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {nullptr};
    static const service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
