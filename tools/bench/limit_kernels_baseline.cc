#define WINDHOVER_LIMIT_KERNELS kLimitKernelsBaseline
#define WINDHOVER_VECTOR_BYTES 16
#include "windhover/tools/bench/limit_kernels_impl.h"
