// SPDX-License-Identifier: MIT
// A calculation server. The workbook's mutex protects the list of its sheets. It
// stays locked while a sheet, which has a mutex too, is calculated.
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "server.h"

namespace
{

class Sheet
{
  public:
    std::uint64_t calculate(std::uint64_t input)
    {
        std::lock_guard<std::mutex> guard(cells_mutex_);
        for (std::size_t i = 1; i < cells_.size(); i++)
            cells_[i] = (cells_[i - 1] + input) * 31 % (cells_[i] + 1009);
        return cells_.back();
    }

  private:
    std::mutex cells_mutex_;
    std::vector<std::uint64_t> cells_ = std::vector<std::uint64_t>(1200, 5);
};

class Workbook
{
  public:
    void add(const std::string &name)
    {
        std::lock_guard<std::mutex> guard(sheets_mutex_);
        sheets_[name] = std::make_shared<Sheet>();
    }

    std::uint64_t calculate(const std::string &name, std::uint64_t input)
    {
        std::unique_lock<std::mutex> guard(sheets_mutex_);
        auto found = sheets_.find(name);
        if (found == sheets_.end())
            return 0;
        std::shared_ptr<Sheet> sheet = found->second;
        if (server_fix("unnest"))
            guard.unlock();
        return sheet->calculate(input);
    }

  private:
    std::mutex sheets_mutex_;
    std::unordered_map<std::string, std::shared_ptr<Sheet>> sheets_;
};

Workbook workbook;
std::mutex undo_mutex;
std::vector<std::uint64_t> undo(100);

void *save(void *unused)
{
    while (!server_stopping()) {
        sleep_us(10000);
        std::lock_guard<std::mutex> guard(undo_mutex);
        undo.assign(100, 0);
    }
    return unused;
}

unsigned handle(request *request)
{
    std::string name = "sheet" + std::to_string(random_below(request, 10));
    std::uint64_t result = workbook.calculate(name, request->number % 97);
    if (result % 20 == 0) {
        std::lock_guard<std::mutex> guard(undo_mutex);
        undo[request->number % 100] = result;
    }
    return 1;
}

void setup()
{
    for (unsigned i = 0; i < 10; i++)
        workbook.add("sheet" + std::to_string(i));
    server_background(save, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"unnest", "fewer-threads", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
