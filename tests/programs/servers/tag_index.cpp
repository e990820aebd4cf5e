// SPDX-License-Identifier: MIT
// An index from tags to photos. A query marks the photos of two tags in a bitmap of all
// photos. The bitmap, a megabyte, is allocated and cleared by calloc() for each query,
// under the index's mutex.
#include <cstdlib>
#include <mutex>
#include <vector>

#include "server.h"

namespace
{

enum { PHOTOS = 1 << 23, TAGS = 24, PER_TAG = 80 };

class TagIndex
{
  public:
    unsigned count_common(std::size_t one, std::size_t other)
    {
        std::lock_guard<std::mutex> guard(index_mutex_);
        std::uint8_t *bitmap = take_bitmap();
        unsigned common = 0;
        for (std::uint32_t photo : photos_[one])
            bitmap[photo / 8] |= static_cast<std::uint8_t>(1 << photo % 8);
        for (std::uint32_t photo : photos_[other])
            common += bitmap[photo / 8] >> photo % 8 & 1;
        give_back(bitmap, one);
        return common;
    }

    void add(std::size_t tag, std::uint32_t photo)
    {
        std::lock_guard<std::mutex> guard(index_mutex_);
        photos_[tag][photo % PER_TAG] = photo;
    }

  private:
    std::uint8_t *take_bitmap()
    {
        if (server_fix("allocate-outside"))
            return reused_;
        return static_cast<std::uint8_t *>(std::calloc(PHOTOS / 8, 1));
    }

    void give_back(std::uint8_t *bitmap, std::size_t tag)
    {
        if (bitmap != reused_)
            std::free(bitmap);
        else
            for (std::uint32_t photo : photos_[tag])
                bitmap[photo / 8] = 0;
    }

    std::mutex index_mutex_;
    std::uint8_t *reused_ = static_cast<std::uint8_t *>(std::calloc(PHOTOS / 8, 1));
    std::vector<std::vector<std::uint32_t>> photos_ =
        std::vector<std::vector<std::uint32_t>>(TAGS,
                                                std::vector<std::uint32_t>(PER_TAG));
};

TagIndex *photo_index;
std::mutex popular_mutex;
std::uint64_t popular;

void *upload(void *unused)
{
    for (std::uint32_t photo = 1; !server_stopping(); sleep_us(500)) {
        photo = photo * 1103515245u + 12345;
        photo_index->add(photo % TAGS, photo % PHOTOS);
    }
    return unused;
}

unsigned handle(request *request)
{
    std::size_t one = random_below(request, TAGS), other = random_below(request, TAGS);
    unsigned common = photo_index->count_common(one, other);
    char page[600] = {'p'};
    std::uint64_t rendered = checksum(page, sizeof page, common);
    std::lock_guard<std::mutex> guard(popular_mutex);
    popular += rendered & 1;
    return 1;
}

void setup()
{
    photo_index = new TagIndex;
    std::uint64_t random = 7;
    for (std::uint64_t i = 0; i < TAGS * PER_TAG; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        std::uint64_t photo = (random >> 40) / PER_TAG * PER_TAG + i / TAGS;
        photo_index->add(i % TAGS, static_cast<std::uint32_t>(photo % PHOTOS));
    }
    server_background(upload, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"allocate-outside", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
