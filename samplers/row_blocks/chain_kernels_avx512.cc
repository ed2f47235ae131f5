#define WINDHOVER_CHAIN_KERNELS kChainKernelsAvx512
#include "windhover/samplers/row_blocks/chain_kernels_impl.h"
