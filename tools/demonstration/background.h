// What the demonstration does beside the screen, each in a thread of its own: asking a question
// again and again, and sending.
#ifndef WINDHOVER_TOOLS_DEMONSTRATION_BACKGROUND_H_
#define WINDHOVER_TOOLS_DEMONSTRATION_BACKGROUND_H_

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "windhover/platform/histogram.h"
#include "windhover/tools/client/answers.h"
#include "windhover/tools/client/send.h"

namespace windhover {

// Asks every few milliseconds over a connection of its own, and records the time from question to
// answer.
class LatencyProbe {
 public:
  LatencyProbe(std::string address, std::function<void(Client&)> ask)
      : thread_([this, address = std::move(address), ask = std::move(ask)] { run(address, ask); }) {
  }
  ~LatencyProbe() { stop(); }
  LatencyProbe(const LatencyProbe&) = delete;
  LatencyProbe& operator=(const LatencyProbe&) = delete;

  void stop() {
    running_ = false;
    if (thread_.joinable()) thread_.join();
  }
  const Histogram& latency() const { return latency_; }

 private:
  void run(const std::string& address, const std::function<void(Client&)>& ask) {
    try {
      Client client;
      connect_or_throw(client, address);
      while (running_) {
        const auto start = std::chrono::steady_clock::now();
        ask(client);
        latency_.record(std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
    } catch (const std::exception& error) {
      fmt::print(stderr, "the latency probe ended: {}\n", error.what());
    }
  }

  std::atomic<bool> running_{true};
  Histogram latency_;
  std::thread thread_;
};

// Sends in a thread of its own and keeps its progress for the screen.
class SendThread {
 public:
  explicit SendThread(SendOptions options) : options_(std::move(options)) {
    options_.on_progress = [this](double part, const std::string& text) {
      const std::lock_guard lock(mutex_);
      part_ = part;
      text_ = text;
    };
    thread_ = std::thread([this] {
      try {
        report_ = send_file(options_);
      } catch (...) {
        failure_ = std::current_exception();
      }
      done_ = true;
    });
  }
  ~SendThread() {
    if (thread_.joinable()) thread_.join();
  }
  SendThread(const SendThread&) = delete;
  SendThread& operator=(const SendThread&) = delete;

  bool done() const { return done_; }
  std::pair<double, std::string> progress() {
    const std::lock_guard lock(mutex_);
    return {part_, text_};
  }
  SendReport result() {
    thread_.join();
    if (failure_) std::rethrow_exception(failure_);
    return std::move(report_);
  }

 private:
  SendOptions options_;
  std::thread thread_;
  std::mutex mutex_;
  double part_ = 0;
  std::string text_;
  std::atomic<bool> done_{false};
  std::exception_ptr failure_;
  SendReport report_;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DEMONSTRATION_BACKGROUND_H_
