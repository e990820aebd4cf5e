// SPDX-License-Identifier: MIT
// Fetches mail over sockets from a slow host. The threads wait in poll() for replies
// with no mutex locked. The mailboxes' mutex is held for a moment per message.
#include <csignal>
#include <mutex>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <unordered_map>
#include <vector>

#include "server.h"

namespace
{

struct Link {
    int client = -1, host = -1;
};

std::vector<Link> links;
std::mutex boxes_mutex, quota_mutex;
std::unordered_map<std::uint64_t, std::uint64_t> boxes;
std::uint64_t quota;

void *host(void *argument)
{
    auto *link = static_cast<Link *>(argument);
    std::uint64_t message = 0;
    while (read(link->host, &message, sizeof message) == sizeof message) {
        sleep_us(600); // the host's disk
        message *= 31;
        if (write(link->host, &message, sizeof message) != sizeof message)
            break;
    }
    return nullptr;
}

std::uint64_t fetch(const Link &link, std::uint64_t number)
{
    pollfd ready = {link.client, POLLIN, 0};
    std::uint64_t message = 0;
    if (write(link.client, &number, sizeof number) != sizeof number)
        return 0;
    if (poll(&ready, 1, 1000) != 1)
        return 0;
    return read(link.client, &message, sizeof message) > 0 ? message : 0;
}

unsigned handle(request *request)
{
    std::uint64_t message = fetch(links[request->worker], request->number);
    char body[2000] = {'m'};
    std::uint64_t sum = checksum(body, sizeof body, message);
    {
        std::lock_guard<std::mutex> guard(boxes_mutex);
        boxes[sum % 64]++;
    }
    std::lock_guard<std::mutex> guard(quota_mutex);
    quota += sizeof body;
    return 1;
}

void setup()
{
    std::signal(SIGPIPE, SIG_IGN);
    links.resize(server_threads());
    for (auto &link : links) {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
            _exit(2);
        link = {ends[0], ends[1]};
    }
    for (std::size_t i = 0; i < links.size() && i < 60; i++)
        server_background(host, &links[i]);
}

void stop()
{
    for (auto &link : links)
        shutdown(link.client, SHUT_RDWR);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {nullptr};
    static const service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
