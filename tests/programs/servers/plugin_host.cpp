// SPDX-License-Identifier: MIT
// Calls into a plugin that is not thread-safe are guarded by a std::counting_semaphore
// with one permit; the host's own mutex is hardly used.
#include <mutex>
#include <semaphore>
#include <vector>

#include "server.h"

namespace
{

class Plugin
{
  public:
    std::uint64_t call(std::uint64_t argument)
    {
        permit_.acquire();
        std::uint64_t result = 0;
        for (unsigned i = 0; i < 2; i++)
            result = checksum(state_.data(), state_.size(), result + argument);
        state_[result % state_.size()]++;
        permit_.release();
        return result;
    }

  private:
    std::counting_semaphore<8> permit_{1};
    std::vector<unsigned char> state_ = std::vector<unsigned char>(5000);
};

Plugin plugin;
std::mutex errors_mutex;
std::uint64_t errors;

unsigned handle(request *request)
{
    if (plugin.call(random_below(request, 1u << 20)) % 50 == 0) {
        std::lock_guard<std::mutex> guard(errors_mutex);
        errors++;
    }
    return 1;
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {nullptr};
    static const service service = {fixes, nullptr, handle, nullptr, false};
    return server_main(count, words, &service);
}
