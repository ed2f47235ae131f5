#include "windhover/platform/random_kernels_impl.h"

namespace windhover::random_kernels {

const Kernels kBaselineKernels = {bits, indices, uniforms, normals};

}  // namespace windhover::random_kernels
