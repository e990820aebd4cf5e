// SPDX-License-Identifier: MIT
// A pool of database connections opens a new one, with its handshake, while the pool
// is locked. Connections end after a few queries, so this happens often. The trace,
// which is formatted under another mutex, costs much less.
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

#include "server.h"

namespace
{

constexpr unsigned QUERIES = 6;
int listening = -1;
sockaddr_un address;
socklen_t address_size;

struct Connection {
    int socket = -1;
    unsigned left = QUERIES;
};

int open_socket()
{
    int opened = socket(AF_UNIX, SOCK_STREAM, 0);
    timeval most = {1, 0};
    setsockopt(opened, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    char greeting = 0;
    if (connect(opened, reinterpret_cast<sockaddr *>(&address), address_size) == 0 &&
        read(opened, &greeting, 1) != 1)
        std::perror("handshake");
    return opened;
}

class Pool
{
  public:
    Connection take()
    {
        std::unique_lock<std::mutex> guard(idle_mutex_);
        if (!idle_.empty()) {
            Connection found = idle_.back();
            idle_.pop_back();
            return found;
        }
        if (server_fix("move-blocking-out"))
            guard.unlock();
        return {open_socket(), QUERIES};
    }

    void give_back(Connection used)
    {
        if (--used.left == 0) {
            close(used.socket);
            return;
        }
        std::lock_guard<std::mutex> guard(idle_mutex_);
        idle_.push_back(used);
    }

  private:
    std::mutex idle_mutex_;
    std::vector<Connection> idle_;
};

class Trace
{
  public:
    void write(unsigned worker, std::uint64_t number)
    {
        char text[100];
        std::unique_lock<std::mutex> guard(trace_mutex_, std::defer_lock);
        if (!server_fix("shorten-section"))
            guard.lock();
        int size = std::snprintf(text, sizeof text, "%u: query %.3f of %llu", worker,
                                 static_cast<double>(number) / 3,
                                 static_cast<unsigned long long>(number));
        if (!guard.owns_lock())
            guard.lock();
        bytes_ += static_cast<std::uint64_t>(size);
    }

  private:
    std::mutex trace_mutex_;
    std::uint64_t bytes_ = 0;
};

Pool pool;
Trace trace;

void *accept_connections(void *unused)
{
    while (!server_stopping()) {
        int accepted = accept(listening, nullptr, nullptr);
        if (accepted < 0)
            continue;
        sleep_us(350); // checks the password
        if (send(accepted, "+", 1, MSG_NOSIGNAL) != 1)
            std::perror("send");
        close(accepted);
    }
    return unused;
}

unsigned handle(request *request)
{
    char rows[6000] = {'r'};
    Connection connection = pool.take();
    request->random += checksum(rows, sizeof rows, request->number);
    pool.give_back(connection);
    trace.write(request->worker, request->number);
    return 1;
}

void setup()
{
    std::string name = "hasp-conn-pool-" + std::to_string(getpid());
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name.data(), name.size()); // no file
    address_size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 +
                                          name.size());
    listening = socket(AF_UNIX, SOCK_STREAM, 0);
    timeval most = {0, 50000};
    setsockopt(listening, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    if (bind(listening, reinterpret_cast<sockaddr *>(&address), address_size) != 0 ||
        listen(listening, 64) != 0) {
        std::perror("listen");
        _exit(1);
    }
    for (unsigned i = 0; i < 8; i++)
        server_background(accept_connections, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"move-blocking-out", "shorten-section",
                                        "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
