// SPDX-License-Identifier: MIT
// Orders lock the till then the stock, deliveries the stock then the invoices, and
// refunds the invoices then the till. No two of them disagree, but three threads can
// wait in a circle. These steps are rare and short, so it has not happened yet.
#include <mutex>

#include "server.h"

namespace
{

class Shop
{
  public:
    void order()
    {
        std::lock_guard<std::mutex> first(till_mutex_);
        std::lock_guard<std::mutex> second(stock_mutex_);
        cash_ += 5;
        stock_--;
    }

    void deliver()
    {
        std::lock_guard<std::mutex> first(stock_mutex_);
        std::lock_guard<std::mutex> second(invoices_mutex_);
        stock_ += 3;
        invoices_++;
    }

    void refund()
    {
        std::unique_lock<std::mutex> invoices(invoices_mutex_, std::defer_lock);
        std::unique_lock<std::mutex> till(till_mutex_, std::defer_lock);
        if (server_fix("fix-order")) {
            till.lock();
            invoices.lock();
        } else {
            invoices.lock();
            till.lock();
        }
        cash_ -= 5;
        invoices_--;
    }

    long look()
    {
        std::lock_guard<std::mutex> guard(till_mutex_);
        return cash_;
    }

  private:
    std::mutex till_mutex_, stock_mutex_, invoices_mutex_;
    long cash_ = 0, stock_ = 0, invoices_ = 0;
};

Shop shop;

void *run_refunds(void *unused)
{
    while (!server_stopping()) {
        sleep_us(15000);
        shop.refund();
    }
    return unused;
}

void *run_deliveries(void *unused)
{
    while (!server_stopping()) {
        sleep_us(11000);
        shop.deliver();
    }
    return unused;
}

unsigned handle(request *request)
{
    char form[2000] = {'f'};
    sleep_us(60);
    request->random += checksum(form, sizeof form, request->number) & 3;
    if (request->number % 30 == 0)
        shop.order();
    else
        request->random += shop.look() & 1;
    return 1;
}

void setup()
{
    server_background(run_refunds, nullptr);
    server_background(run_deliveries, nullptr);
}

} // namespace

int main(int count, char **words)
{
    static const char *const fixes[] = {"fix-order", nullptr};
    static const service service = {fixes, setup, handle, nullptr, false};
    return server_main(count, words, &service);
}
