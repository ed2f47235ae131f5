#define WINDHOVER_PREDICTION_KERNELS kPredictionKernelsAvx512
#include "windhover/runtime/prediction/prediction_kernels_impl.h"
