#ifndef WINDHOVER_PLATFORM_RANDOM_KERNELS_H_
#define WINDHOVER_PLATFORM_RANDOM_KERNELS_H_

#include <cstddef>
#include <cstdint>

// Private to random*.cc: the loops behind random.h, compiled once for each instruction set. Files
// with instruction-set flags include this header, so neither it nor what it includes has an inline
// function: the linker keeps one copy of these, perhaps one that an older processor cannot run.

namespace windhover::random_kernels {

// Where a fill starts: key, the three counter words that stay, and the first block.
struct Start {
  std::uint32_t key[2];
  std::uint32_t counter[3];
  std::uint32_t block;
};

// Each writes `count` elements, whose meaning random.h gives. `out` needs no alignment.
struct Kernels {
  void (*bits)(const Start& start, std::uint32_t* out, std::size_t count) noexcept;
  void (*indices)(const Start& start, std::uint32_t bound, std::uint32_t* out,
                  std::size_t count) noexcept;
  void (*uniforms)(const Start& start, double* out, std::size_t count) noexcept;
  void (*normals)(const Start& start, double* out, std::size_t count) noexcept;
};

extern const Kernels kBaselineKernels;
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512Kernels;

}  // namespace windhover::random_kernels

#endif  // WINDHOVER_PLATFORM_RANDOM_KERNELS_H_
