// What the tests of the loops over chains and columns share.
#ifndef WINDHOVER_TESTS_SAMPLERS_CHAIN_KERNELS_FIXTURE_H_
#define WINDHOVER_TESTS_SAMPLERS_CHAIN_KERNELS_FIXTURE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "windhover/platform/cpu.h"
#include "windhover/platform/random.h"
#include "windhover/samplers/row_blocks/chain_kernels.h"

namespace windhover::chain_kernels_test {

inline constexpr std::size_t kColumns = 5;
inline constexpr double kError = 1e-5;  // of sums of a few numbers of about 1, in single precision

inline std::vector<const ChainKernels*> tables() {
  std::vector<const ChainKernels*> all = {&kChainKernelsBaseline};
  if (instruction_set() >= InstructionSet::kAvx2) all.push_back(&kChainKernelsAvx2);
  if (instruction_set() >= InstructionSet::kAvx512) all.push_back(&kChainKernelsAvx512);
  return all;
}

inline std::vector<float> numbers(std::size_t count, std::uint64_t which) {
  std::vector<double> normals(count);
  fill_normals(7, {which, 0, Purpose::kTest}, normals);
  return {normals.begin(), normals.end()};
}

}  // namespace windhover::chain_kernels_test

#endif  // WINDHOVER_TESTS_SAMPLERS_CHAIN_KERNELS_FIXTURE_H_
