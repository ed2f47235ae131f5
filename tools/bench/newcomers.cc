#include "windhover/tools/bench/newcomers.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>

#include "windhover/io/address.h"
#include "windhover/io/client.h"
#include "windhover/io/client_socket.h"
#include "windhover/tools/bench/load.h"
#include "windhover/tools/bench/timing.h"

namespace windhover {
namespace {

constexpr auto kPatienceOfOne = std::chrono::seconds(10);

}  // namespace

Newcomers::Newcomers(const std::string& address, Speaks what, double per_second)
    : address_(address), what_(what), per_second_(per_second), thread_([this] { run(); }) {}

Newcomers::~Newcomers() {
  done_ = true;
  if (thread_.joinable()) thread_.join();
}

void Newcomers::run() {
  const double start = wall_seconds();
  while (!done_) {
    const double due = start + static_cast<double>(came_) / per_second_;
    if (const double early = due - wall_seconds(); early > 0) {
      sleep_for(std::min(early, 0.01));
      continue;
    }
    ++came_;
    const double begin = wall_seconds();
    if (what_ == Speaks::kFrames ? ask() : ask_over_http()) {
      took_us_.push_back(1e6 * (wall_seconds() - begin));
    }
  }
}

bool Newcomers::ask() {
  Client client;
  ClientOptions options;
  options.connect_timeout = options.reply_timeout = kPatienceOfOne;
  v1::StatusResult status;
  return ok(client.connect(address_, options)) && ok(client.status(status));
}

bool Newcomers::ask_over_http() {
  constexpr std::string_view kRequest = "GET /v1/status HTTP/1.1\r\nHost: bench\r\n\r\n";
  Address parsed;
  ClientSocket socket;
  std::string why;
  std::size_t sent = 0;
  if (!parse_address(address_, parsed) || !ok(socket.connect(parsed, kPatienceOfOne, why)) ||
      !ok(socket.send_some(kRequest.data(), kRequest.size(), sent)) || sent != kRequest.size()) {
    return false;
  }
  std::string answer;
  std::array<char, 16'384> some{};
  while (answer.find("\r\n\r\n") == std::string::npos) {
    std::size_t received = 0;
    if (!ok(socket.wait(false, kPatienceOfOne)) ||
        !ok(socket.receive_some(some.data(), some.size(), received))) {
      return false;
    }
    answer.append(some.data(), received);
  }
  return answer.starts_with("HTTP/1.1 200");
}

Json Newcomers::figures() {
  done_ = true;
  thread_.join();
  Json out = {{"came", came_}, {"answered", took_us_.size()}};
  if (took_us_.empty()) return out;
  out["p50_us"] = quantile(took_us_, 0.5);
  out["p99_us"] = quantile(took_us_, 0.99);
  out["max_us"] = quantile(took_us_, 1);
  return out;
}

}  // namespace windhover
