#define WINDHOVER_LIMIT_KERNELS kLimitKernelsAvx2
#define WINDHOVER_VECTOR_BYTES 32
#include "windhover/tools/bench/limit_kernels_impl.h"
