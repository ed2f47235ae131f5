// Clients that come, ask one question and go, beside whatever else a server has to bear.
#ifndef WINDHOVER_TOOLS_BENCH_NEWCOMERS_H_
#define WINDHOVER_TOOLS_BENCH_NEWCOMERS_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "windhover/tools/bench/suite.h"

namespace windhover {

// One after the other at a fixed rate, on one thread until figures() or destruction: each connects,
// says who it is, asks how the server is, and has its answer or has none.
class Newcomers {
 public:
  // An endpoint that speaks frames, or HTTP.
  enum class Speaks : std::uint8_t { kFrames, kHttp };
  Newcomers(const std::string& address, Speaks what, double per_second);
  ~Newcomers();
  Newcomers(const Newcomers&) = delete;
  Newcomers& operator=(const Newcomers&) = delete;

  // Ends it. came, answered, p50_us, p99_us, max_us from connecting to the answer, of those that
  // had one.
  Json figures();

 private:
  void run();
  bool ask();
  bool ask_over_http();

  std::string address_;
  Speaks what_;
  double per_second_;
  std::uint64_t came_ = 0;
  std::vector<double> took_us_;
  std::atomic<bool> done_{false};
  std::thread thread_;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_NEWCOMERS_H_
