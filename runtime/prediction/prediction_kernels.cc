#include "windhover/runtime/prediction/prediction_kernels.h"

#include "windhover/platform/cpu.h"

namespace windhover {

const PredictionKernels& prediction_kernels() noexcept {
  switch (instruction_set()) {
    case InstructionSet::kAvx512:
      return kPredictionKernelsAvx512;
    case InstructionSet::kAvx2:
      return kPredictionKernelsAvx2;
    case InstructionSet::kBaseline:
      break;
  }
  return kPredictionKernelsBaseline;
}

}  // namespace windhover
