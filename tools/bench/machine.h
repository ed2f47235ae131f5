// What the machine can do, measured in the run whose results are compared with it.
#ifndef WINDHOVER_TOOLS_BENCH_MACHINE_H_
#define WINDHOVER_TOOLS_BENCH_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "windhover/platform/memory.h"
#include "windhover/tools/bench/suite.h"

namespace windhover {

// The limits of one core. Takes about a second to measure.
struct ComputeLimits {
  std::size_t l1_set = 0;    // bytes: half of the first cache
  std::size_t l2_set = 0;    // half of the second
  std::size_t dram_set = 0;  // four times the last cache, at least 64 MiB and at most 1 GiB
  double l1_bytes = 0;       // bytes a second, reading that set
  double l2_bytes = 0;
  double dram_bytes = 0;

  // The rate of the smallest of the three sets that holds `bytes`.
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

// A x with a matrix of rows x columns, and below the lower triangle of X^T X, on memory of their
// own. RunError when there is none.
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

// The seconds of one such product.
double gemv_seconds(std::size_t rows, std::size_t columns, double budget);
double syrk_seconds(std::size_t rows, std::size_t columns, double budget);

// Bytes a second from one thread to another through a loopback connection with 64 KiB a write, and
// the median and 99th percentile of the round trip of 64 bytes. Each is the best of five stretches
// of time: other work on the machine would make a limit too low, and a ratio to it too good.
struct StreamLimits {
  double bytes_per_second = 0;
  double round_trip_p50_us = 0;
  double round_trip_p99_us = 0;
};
enum class StreamKind : std::uint8_t { kTcp, kUnix };
StreamLimits measure_stream(StreamKind kind, double budget);
Json to_json(const StreamLimits& limits);

// The seconds of Protobuf's generated parser for all of these Requests, each with its length in
// front.
double generated_parser_seconds(std::string_view frames, double budget);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_MACHINE_H_
