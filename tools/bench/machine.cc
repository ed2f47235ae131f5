#include "windhover/tools/bench/machine.h"

#include <algorithm>
#include <vector>

#include "windhover/platform/clock.h"
#include "windhover/platform/cpu.h"
#include "windhover/platform/memory.h"
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

// Keeps the compiler from dropping what nobody looks at.
template <class T>
void use(T value) {
  asm volatile("" : : "g"(value) : "memory");
}

double read_rate(std::size_t bytes) {
  const MappedBlock block(bytes);
  if (!block.valid()) throw RunError("no memory to measure the machine with");
  const auto* data = reinterpret_cast<double*>(block.bytes().data());
  std::fill_n(reinterpret_cast<double*>(block.bytes().data()), bytes / sizeof(double), 1.0);
  const double seconds =
      fastest(kBudget, [&] { use(limit_kernels().read(data, bytes / sizeof(double))); });
  return static_cast<double>(bytes) / seconds;
}

}  // namespace

ComputeLimits measure_compute() {
  ComputeLimits limits;
  const LimitKernels& k = limit_kernels();
  limits.l2_bytes = read_rate(std::size_t{512} << 10);
  limits.dram_bytes = read_rate(std::size_t{256} << 20);
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
  return {{"l2_gb_per_second", l.l2_bytes / 1e9},
          {"dram_gb_per_second", l.dram_bytes / 1e9},
          {"fma_double_gflops", l.flops_double / 1e9},
          {"fma_float_gflops", l.flops_float / 1e9},
          {"clock_ns", l.clock_ns}};
}

double gemv_seconds(std::size_t rows, std::size_t columns, double budget) {
  const std::size_t width = (columns + 7) / 8 * 8;
  const std::vector<double> a(rows * width, 0.5);
  const std::vector<double> x(width, 0.1);
  std::vector<double> y(rows);
  return fastest(budget, [&] {
    limit_kernels().gemv(a.data(), rows, width, x.data(), y.data());
    use(y.data());
  });
}

double syrk_seconds(std::size_t rows, std::size_t width, double budget) {
  width = (width + 15) / 16 * 16;
  const std::vector<double> x(rows * width, 0.01);
  std::vector<double> c(width * width);
  return fastest(budget, [&] {
    limit_kernels().syrk(x.data(), rows, width, c.data());
    use(c.data());
  });
}

}  // namespace windhover
