// What the machine itself can do, measured in the run whose results are compared with it.
#ifndef WINDHOVER_TOOLS_BENCH_MACHINE_H_
#define WINDHOVER_TOOLS_BENCH_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "windhover/platform/memory.h"
#include "windhover/tools/bench/suite.h"

namespace windhover {

// One core. About a second to measure.
struct ComputeLimits {
  std::size_t l1_set = 0;    // bytes that fit the first cache: half of it
  std::size_t l2_set = 0;    // likewise the second
  std::size_t dram_set = 0;  // four times the last cache, at least 64 MiB and at most 1 GiB
  double l1_bytes = 0;       // read a second from so many
  double l2_bytes = 0;
  double dram_bytes = 0;

  // Bytes a second of the smallest of the three sets that holds so many.
  double bytes_per_second(double bytes) const {
    if (bytes <= static_cast<double>(l1_set)) return l1_bytes;
    return bytes <= static_cast<double>(l2_set) ? l2_bytes : dram_bytes;
  }
  double flops_double = 0;
  double flops_float = 0;
  double clock_ns = 0;  // one reading of RealClock
};
ComputeLimits measure_compute();
Json to_json(const ComputeLimits& limits);

// What A x takes with a matrix of rows x columns, and the lower triangle of X^T X, on memory of
// their own. RunError when there is none.
class GemvLimit {
 public:
  GemvLimit(std::size_t rows, std::size_t columns);
  void operator()();

 private:
  std::size_t rows_;
  std::size_t columns_;
  MappedBlock a_;
  MappedBlock x_;
  MappedBlock y_;
};
class SyrkLimit {
 public:
  SyrkLimit(std::size_t rows, std::size_t columns);
  void operator()();

 private:
  std::size_t rows_;
  std::size_t columns_;
  std::size_t width_;
  MappedBlock x_;
  MappedBlock c_;
};

// Seconds of one of them.
double gemv_seconds(std::size_t rows, std::size_t columns, double budget);
double syrk_seconds(std::size_t rows, std::size_t columns, double budget);

// Bytes a second from one thread to another through a loopback connection, 64 KiB a write, and the
// median and 99th percentile of 64 bytes there and back. Each is the best of five stretches of
// time: what else the machine does makes a limit too low, and a ratio to it too good.
struct StreamLimits {
  double bytes_per_second = 0;
  double round_trip_p50_us = 0;
  double round_trip_p99_us = 0;
};
enum class StreamKind : std::uint8_t { kTcp, kUnix };
StreamLimits measure_stream(StreamKind kind, double budget);
Json to_json(const StreamLimits& limits);

// Seconds that Protobuf's generated parser takes for these length-prefixed Requests, all of them.
double generated_parser_seconds(std::string_view frames, double budget);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_MACHINE_H_
