// SPDX-License-Identifier: MIT
// Workers put small parcels into outboxes of their own, and a scale locks each outbox
// for an instant every few milliseconds. An outbox is 64 bytes, but they begin in the
// middle of a cache line, so the mutex of each is in the line of its neighbour's
// fields. The remedy aligns them.
#include <array>
#include <cstdlib>
#include <mutex>
#include <new>

#include "../server.h"

namespace
{

constexpr unsigned OUTBOXES = 64, PARCELS = 50;

struct Outbox {
    std::mutex outbox_mutex;
    std::uint64_t parcels = 0, weight = 0, last = 0;
};

std::array<Outbox *, OUTBOXES> outboxes;
std::mutex depot_mutex;
std::uint64_t depot;

void post(Outbox &outbox, std::uint64_t weight)
{
    std::lock_guard<std::mutex> guard(outbox.outbox_mutex);
    outbox.parcels++;
    outbox.weight += weight;
    outbox.last = weight;
}

void *weigh(void *unused)
{
    while (!server_stopping()) {
        std::uint64_t weight = 0;
        sleep_us(3000);
        for (Outbox *outbox : outboxes) {
            std::lock_guard<std::mutex> guard(outbox->outbox_mutex);
            weight += outbox->weight;
        }
        std::lock_guard<std::mutex> guard(depot_mutex);
        depot = weight;
    }
    return unused;
}

unsigned handle(request *request)
{
    Outbox &outbox = *outboxes[request->worker % OUTBOXES];
    for (unsigned i = 0; i < PARCELS; i++)
        post(outbox, random_below(request, 400));
    return PARCELS;
}

void setup()
{
    bool pad = server_fix("pad");
    std::size_t step = pad ? 256 : sizeof(Outbox);
    auto *memory = static_cast<unsigned char *>(std::aligned_alloc(256, 256 * 68));
    for (unsigned i = 0; i < OUTBOXES; i++)
        outboxes[i] = new (memory + (pad ? 0 : 32) + i * step) Outbox;
    server_background(weigh, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"pad", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
