#include "windhover/platform/random_kernels_impl.h"

namespace windhover::random_kernels {

const Kernels avx2_kernels = {bits, indices, uniforms, normals};

}  // namespace windhover::random_kernels
