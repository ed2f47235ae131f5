#define WINDHOVER_PREDICTION_KERNELS kPredictionKernelsAvx2
#include "windhover/runtime/prediction_kernels_impl.h"
