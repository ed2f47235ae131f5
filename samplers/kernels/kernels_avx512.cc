#define WINDHOVER_KERNELS kKernelsAvx512
#include "windhover/samplers/kernels/kernels_impl.h"
