#include "windhover/samplers/row_blocks/chain_kernels.h"

#include "windhover/platform/cpu.h"

namespace windhover {

const ChainKernels& chain_kernels() noexcept {
  switch (instruction_set()) {
    case InstructionSet::kAvx512:
      return kChainKernelsAvx512;
    case InstructionSet::kAvx2:
      return kChainKernelsAvx2;
    case InstructionSet::kBaseline:
      break;
  }
  return kChainKernelsBaseline;
}

}  // namespace windhover
