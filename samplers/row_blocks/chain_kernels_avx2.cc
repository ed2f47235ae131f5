#define WINDHOVER_CHAIN_KERNELS kChainKernelsAvx2
#include "windhover/samplers/row_blocks/chain_kernels_impl.h"
