#include "windhover/samplers/kernels/kernels.h"

#include "windhover/platform/cpu.h"

namespace windhover {

const Kernels& kernels() noexcept {
  switch (instruction_set()) {
    case InstructionSet::kAvx512:
      return kKernelsAvx512;
    case InstructionSet::kAvx2:
      return kKernelsAvx2;
    case InstructionSet::kBaseline:
      break;
  }
  return kKernelsBaseline;
}

}  // namespace windhover
