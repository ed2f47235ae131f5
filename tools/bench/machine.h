// What the machine itself can do, measured in the run whose results are compared with it.
#ifndef WINDHOVER_TOOLS_BENCH_MACHINE_H_
#define WINDHOVER_TOOLS_BENCH_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "windhover/tools/bench/suite.h"

namespace windhover {

// One core. About a second to measure.
struct ComputeLimits {
  double l2_bytes = 0;    // read a second from a buffer of 512 KiB
  double dram_bytes = 0;  // from one of 256 MiB
  double flops_double = 0;
  double flops_float = 0;
  double clock_ns = 0;  // one reading of RealClock
};
ComputeLimits measure_compute();
Json to_json(const ComputeLimits& limits);

// Seconds of A x with a matrix of its own, and of the lower triangle of X^T X.
double gemv_seconds(std::size_t rows, std::size_t columns, double budget);
double syrk_seconds(std::size_t rows, std::size_t width, double budget);

// Bytes a second from one thread to another through a loopback connection, 64 KiB a write, and the
// median and 99th percentile of 64 bytes there and back.
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
