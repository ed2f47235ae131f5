#define WINDHOVER_LIMIT_KERNELS kLimitKernelsAvx512
#define WINDHOVER_VECTOR_BYTES 64
#include "windhover/tools/bench/limit_kernels_impl.h"
