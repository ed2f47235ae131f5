// What `windhover bench ingest` sends.
#ifndef WINDHOVER_TOOLS_BENCH_INGEST_H_
#define WINDHOVER_TOOLS_BENCH_INGEST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "windhover/tools/bench/suite.h"

namespace windhover {

struct IngestShape {
  std::uint32_t dimension;
  std::uint32_t nonzeros;
  std::uint32_t rows_per_frame;
  std::uint32_t connections;
  bool single_precision = false;
  bool unix_sockets = false;
};

// The runs of the suite with these options, in order.
std::vector<IngestShape> ingest_shapes(const BenchOptions& options);

// The name of the run.
std::string name_of(const IngestShape& shape);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_INGEST_H_
