// The inner loops of predictions, compiled once for each instruction set and chosen at run time,
// like those of samplers/kernels/kernels.h. Plain pointers only. Results have the same bits
// wherever the numbers lie in an array.
#ifndef WINDHOVER_RUNTIME_PREDICTION_PREDICTION_KERNELS_H_
#define WINDHOVER_RUNTIME_PREDICTION_PREDICTION_KERNELS_H_

#include <cstddef>

namespace windhover {

struct PredictionKernels {
  // a . b.
  double (*dot)(const double* a, const double* b, std::size_t count);
  // values += shift.
  void (*shift)(double* values, std::size_t count, double shift);
  // Where a value is above `best`, it replaces it and `winner` becomes `candidate`.
  void (*keep_best)(const double* values, std::size_t count, double candidate, double* best,
                    double* winner);
  // The sum of best - values.
  double (*shortfall)(const double* best, const double* values, std::size_t count);
  // Writes four sums over i of weight_i f(m + s z_i) to `sums`, f being p = the sigmoid, 1 - p, p
  // (1 - p), and the entropy of a coin of probability p, to about 1e-15. REQUIRES: count is a
  // multiple of 8.
  void (*sigmoid_sums)(double m, double s, const double* z, const double* weight, std::size_t count,
                       double* sums);
};

// The table for instruction_set().
const PredictionKernels& prediction_kernels() noexcept;

extern const PredictionKernels kPredictionKernelsBaseline;
extern const PredictionKernels kPredictionKernelsAvx2;
extern const PredictionKernels kPredictionKernelsAvx512;

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_PREDICTION_PREDICTION_KERNELS_H_
