#define WINDHOVER_PREDICTION_KERNELS kPredictionKernelsAvx512
#include "windhover/runtime/prediction_kernels_impl.h"
