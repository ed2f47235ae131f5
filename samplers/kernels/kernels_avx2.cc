#define WINDHOVER_KERNELS kKernelsAvx2
#include "windhover/samplers/kernels/kernels_impl.h"
