// The inner loops of predictions, compiled once an instruction set and chosen at run time, as those
// of samplers/kernels/kernels.h are. Plain pointers only. A result never depends on the place in an
// array.
#ifndef WINDHOVER_RUNTIME_PREDICTION_PREDICTION_KERNELS_H_
#define WINDHOVER_RUNTIME_PREDICTION_PREDICTION_KERNELS_H_

#include <cstddef>

namespace windhover {

struct PredictionKernels {
  // a . b.
  double (*dot)(const double* a, const double* b, std::size_t count);
  // values += shift.
  void (*shift)(double* values, std::size_t count, double shift);
  // Where a value is above `best`, it takes its place and `winner` becomes `candidate`.
  void (*keep_best)(const double* values, std::size_t count, double candidate, double* best,
                    double* winner);
  // The sum of best - values.
  double (*shortfall)(const double* best, const double* values, std::size_t count);
  // Sums over i of weight_i f(m + s z_i): of p = the sigmoid, of 1 - p, of p (1 - p), and of the
  // entropy of a coin of probability p, to about 1e-15; `sums` holds the four. count is a multiple
  // of 8.
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
