#include "windhover/platform/cpu.h"

#include <algorithm>
#include <atomic>

namespace windhover {
namespace {

InstructionSet detect() noexcept {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512bw");
  if (avx512) return InstructionSet::kAvx512;
  if (avx2) return InstructionSet::kAvx2;
#endif
  return InstructionSet::kBaseline;
}

// Detected at the first call: before main, a host's static initialiser could come first.
constexpr int kUnknown = -1;
std::atomic<int> chosen{kUnknown};

}  // namespace

InstructionSet instruction_set() noexcept {
  int set = chosen.load(std::memory_order_relaxed);
  if (set == kUnknown) {
    // A limit that another thread has set meanwhile stays.
    const int best = static_cast<int>(detect());
    set = chosen.compare_exchange_strong(set, best, std::memory_order_relaxed) ? best : set;
  }
  return static_cast<InstructionSet>(set);
}

void limit_instruction_set(InstructionSet limit) noexcept {
  chosen.store(static_cast<int>(std::min(detect(), limit)), std::memory_order_relaxed);
}

const char* to_string(InstructionSet set) noexcept {
  switch (set) {
    case InstructionSet::kBaseline:
      return "baseline";
    case InstructionSet::kAvx2:
      return "avx2";
    case InstructionSet::kAvx512:
      return "avx512";
  }
  return "unknown";
}

}  // namespace windhover
