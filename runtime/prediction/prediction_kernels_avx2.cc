#define WINDHOVER_PREDICTION_KERNELS kPredictionKernelsAvx2
#include "windhover/runtime/prediction/prediction_kernels_impl.h"
