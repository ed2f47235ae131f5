#define WINDHOVER_KERNELS kKernelsBaseline
#include "windhover/samplers/kernels_impl.h"
