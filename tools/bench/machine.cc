#include "windhover/tools/bench/machine.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "windhover/platform/clock.h"
#include "windhover/platform/cpu.h"
#include "windhover/tools/bench/limit_kernels.h"
#include "windhover/tools/bench/timing.h"
#include "windhover/tools/error.h"

namespace windhover {

const LimitKernels& limit_kernels() noexcept {
  switch (instruction_set()) {
    case InstructionSet::kAvx512:
      return kLimitKernelsAvx512;
    case InstructionSet::kAvx2:
      return kLimitKernelsAvx2;
    case InstructionSet::kBaseline:
      break;
  }
  return kLimitKernelsBaseline;
}

namespace {

constexpr double kBudget = 0.15;

// Keeps the compiler from dropping a result that is not used.
template <class T>
void use(T value) {
  asm volatile("" : : "g"(value) : "memory");
}

double* doubles(const MappedBlock& block) {
  return reinterpret_cast<double*>(block.bytes().data());
}

MappedBlock filled(std::size_t count, double value) {
  MappedBlock block(count * sizeof(double));
  if (!block.valid()) throw RunError("no memory to measure the machine with");
  std::fill_n(doubles(block), count, value);
  return block;
}

// `count` doubles rounded up to the widest registers there are.
std::size_t whole_registers(std::size_t count) { return (count + 7) / 8 * 8; }

// The size of a data cache of the first processor; 0: unknown. From the kernel first, because in a
// virtual machine sysconf() gives the last cache of its host. index0 is the first data cache,
// index1 that of instructions.
std::size_t cache_bytes(int level) {
  constexpr std::array kIndices = {0, 2, 3};
  constexpr std::array kNames = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
                                 _SC_LEVEL3_CACHE_SIZE};
  const auto i = static_cast<std::size_t>(level - 1);
  std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/size", kIndices[i]));
  std::size_t kib = 0;
  if (file >> kib) return kib << 10;
  const long bytes = sysconf(kNames[i]);
  return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

// Bytes of a working set within these bounds, in whole pages; `otherwise` where the cache is not
// known.
std::size_t working_set(std::size_t bytes, std::size_t otherwise, std::size_t least,
                        std::size_t most) {
  if (bytes == 0) bytes = otherwise;
  return std::clamp(bytes, least, most) / 4096 * 4096;
}

double read_rate(std::size_t bytes) {
  const MappedBlock block = filled(bytes / sizeof(double), 1.0);
  const double seconds =
      fastest(kBudget, [&] { use(limit_kernels().read(doubles(block), bytes / sizeof(double))); });
  return static_cast<double>(bytes) / seconds;
}

}  // namespace

ComputeLimits measure_compute() {
  ComputeLimits limits;
  const LimitKernels& k = limit_kernels();
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  constexpr std::size_t kKiB = std::size_t{1} << 10;
  limits.l1_set = working_set(cache_bytes(1) / 2, 16 * kKiB, 8 * kKiB, 64 * kKiB);
  limits.l2_set = working_set(cache_bytes(2) / 2, kMiB / 2, kMiB / 8, 4 * kMiB);
  limits.dram_set = working_set(4 * cache_bytes(3), 256 * kMiB, 64 * kMiB, 1024 * kMiB);
  limits.l1_bytes = read_rate(limits.l1_set);
  limits.l2_bytes = read_rate(limits.l2_set);
  limits.dram_bytes = read_rate(limits.dram_set);
  constexpr std::size_t kRounds = 10'000;
  limits.flops_double = static_cast<double>(kRounds * k.flops_double) /
                        fastest(kBudget, [&] { use(k.fma_double(kRounds, 0.5, 1.0)); });
  limits.flops_float = static_cast<double>(kRounds * k.flops_float) /
                       fastest(kBudget, [&] { use(k.fma_float(kRounds, 0.5F, 1.0F)); });
  RealClock clock;
  limits.clock_ns = 1e9 * fastest(0.05, [&] { use(clock.now_ns()); });
  return limits;
}

Json to_json(const ComputeLimits& l) {
  return {{"l1_set_kib", l.l1_set >> 10},
          {"l2_set_kib", l.l2_set >> 10},
          {"dram_set_mib", l.dram_set >> 20},
          {"l1_gb_per_second", l.l1_bytes / 1e9},
          {"l2_gb_per_second", l.l2_bytes / 1e9},
          {"dram_gb_per_second", l.dram_bytes / 1e9},
          {"fma_double_gflops", l.flops_double / 1e9},
          {"fma_float_gflops", l.flops_float / 1e9},
          {"clock_ns", l.clock_ns}};
}

GemvLimit::GemvLimit(std::size_t rows, std::size_t columns)
    : rows_(rows),
      columns_(columns),
      a_(filled(whole_registers(rows) * columns, 0.5)),
      x_(filled(columns, 0.1)),
      y_(filled(whole_registers(rows), 0.0)) {}

void GemvLimit::operator()() {
  limit_kernels().gemv(doubles(a_), rows_, columns_, doubles(x_), doubles(y_));
  use(doubles(y_));
}

SyrkLimit::SyrkLimit(std::size_t rows, std::size_t columns)
    : rows_(rows),
      columns_(columns),
      width_(whole_registers(columns)),
      x_(filled(rows * width_, 0.01)),
      c_(filled(width_ * width_, 0.0)) {}

void SyrkLimit::operator()() {
  limit_kernels().syrk(doubles(x_), rows_, columns_, width_, doubles(c_));
  use(doubles(c_));
}

double gemv_seconds(std::size_t rows, std::size_t columns, double budget) {
  return fastest(budget, GemvLimit(rows, columns));
}

double syrk_seconds(std::size_t rows, std::size_t columns, double budget) {
  return fastest(budget, SyrkLimit(rows, columns));
}

}  // namespace windhover
