#include "windhover/platform/random_kernels_impl.h"

namespace windhover::random_kernels {

const Kernels kAvx512Kernels = {bits, indices, uniforms, normals};

}  // namespace windhover::random_kernels
