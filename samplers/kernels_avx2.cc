#define WINDHOVER_KERNELS kKernelsAvx2
#include "windhover/samplers/kernels_impl.h"
