#ifndef WINDHOVER_PLATFORM_CPU_H_
#define WINDHOVER_PLATFORM_CPU_H_

#include <cstdint>

namespace windhover {

// The instruction sets that kernels are compiled for, in rising order: plain x86-64; AVX2 with FMA;
// AVX-512 F, DQ, VL and BW.
enum class InstructionSet : std::uint8_t { kBaseline, kAvx2, kAvx512 };

// The best set that processor and system support, or the limit if that is lower. Any thread; after
// the first call it costs one load. Each call of a kernel chooses by it, through a table of
// function pointers.
InstructionSet instruction_set() noexcept;

// Kernels use nothing above `limit` from now on (and never anything above what the processor
// supports). Call it at start-up and in tests: results may differ in the last bits between
// instruction sets, so a run keeps to one.
void limit_instruction_set(InstructionSet limit) noexcept;

const char* to_string(InstructionSet set) noexcept;

// Call this between two looks at what another thread is about to write.
inline void pause_processor() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace windhover

#endif  // WINDHOVER_PLATFORM_CPU_H_
