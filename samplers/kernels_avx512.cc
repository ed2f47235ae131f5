#define WINDHOVER_KERNELS kKernelsAvx512
#include "windhover/samplers/kernels_impl.h"
