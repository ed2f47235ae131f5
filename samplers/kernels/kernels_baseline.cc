#define WINDHOVER_KERNELS kKernelsBaseline
#include "windhover/samplers/kernels/kernels_impl.h"
