#define WINDHOVER_CHAIN_KERNELS kChainKernelsBaseline
#include "windhover/samplers/row_blocks/chain_kernels_impl.h"
