// SPDX-License-Identifier: MIT
// Polls weather stations at a fixed pace. The threads sleep between the polls, and the
// mutexes, which all of them use, are free nearly always.
#include <map>
#include <mutex>
#include <string>

#include "server.h"

namespace
{

std::mutex stations_mutex, archive_mutex;
std::map<std::string, std::uint64_t> stations;
std::uint64_t archive[24];

std::uint64_t poll(const std::string &station)
{
    sleep_us(700); // the radio link
    std::uint64_t reading = checksum(station.data(), station.size(), now_ns());
    std::lock_guard<std::mutex> guard(stations_mutex);
    stations[station] = reading;
    return reading;
}

unsigned handle(request *request)
{
    std::uint64_t reading = poll("st" + std::to_string(random_below(request, 60)));
    std::lock_guard<std::mutex> guard(archive_mutex);
    archive[reading % 24]++;
    return 1;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {nullptr};
    static const service service = {fixes, nullptr, handle, nullptr, false};
    return server_main(count, words, &service);
}
