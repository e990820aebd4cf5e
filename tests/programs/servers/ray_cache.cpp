// SPDX-License-Identifier: MIT
// Each image computes two milliseconds of rays by itself, then three with the cache of
// reflections locked. No other threads compute. The remedy needs the lock for the
// result only.
#include <mutex>
#include <vector>

#include "server.h"

namespace
{

std::mutex cache_mutex;
std::vector<unsigned char> reflections(60000, 1);
std::mutex images_mutex;
std::uint64_t images;

std::uint64_t trace(std::uint64_t image, unsigned passes)
{
    for (unsigned pass = 0; pass < passes; pass++)
        image = checksum(reflections.data(), reflections.size(), image + pass);
    return image;
}

std::uint64_t reflect(std::uint64_t image)
{
    if (server_fix("shorten-section"))
        image = trace(image, 50);
    std::lock_guard<std::mutex> guard(cache_mutex);
    if (!server_fix("shorten-section"))
        image = trace(image, 50);
    reflections[image % reflections.size()] = 2;
    return image;
}

unsigned handle(request *request)
{
    std::uint64_t image = trace(request->number, 30);
    request->random += reflect(image) & 3;
    std::lock_guard<std::mutex> guard(images_mutex);
    images++;
    return 1;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"shorten-section", "fewer-threads", nullptr};
    static const service service = {fixes, nullptr, handle, nullptr, false};
    return server_main(count, words, &service);
}
