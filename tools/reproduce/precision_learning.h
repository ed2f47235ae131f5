// The prior precision lambda of a softmax regression, learned online: the methods of
// `hyperparameters`.
#ifndef WINDHOVER_TOOLS_REPRODUCE_PRECISION_LEARNING_H_
#define WINDHOVER_TOOLS_REPRODUCE_PRECISION_LEARNING_H_

#include <cstdint>
#include <string>

#include "windhover/samplers/config.h"
#include "windhover/tools/data/dataset.h"

namespace windhover::reproduce {

inline constexpr std::uint32_t kPrecisionMinibatch = 500;

struct PrecisionTask {
  std::string name;
  ModelConfig model;
  Dataset training;
  Dataset validation;

  std::uint64_t steps(double passes, std::uint32_t minibatch = kPrecisionMinibatch) const {
    return static_cast<std::uint64_t>(passes * static_cast<double>(training.rows()) / minibatch);
  }
};

// The validation loss, the average of -log p(y | x, theta), at the mode for a given lambda. Adam
// finds the mode with a rate that falls to 0.
double loss_at(const PrecisionTask& task, double precision, double passes, std::uint64_t seed);

struct Learned {
  double precision = 0;
  double loss = 0;
};

// How theta moves, and the estimate of E|theta|^2.
enum class SgdKind : std::uint8_t {
  kOneRate,        // the rate of eq. 15, 2 D S / (n Tr C); the iterates' own square
  kWithVariances,  // that rate; the square of a posterior about the iterates' average
  kDiagonal,       // that square; a rate each, 2 S / max(n C_jj + lambda, 0.01 n Tr C / D)
};

// Eq. 22: theta by SGD at a constant rate, lambda at a falling one. C is the covariance of the
// minibatch's row gradients, averaged along the way. The square of a posterior includes variances
// of 1 / (n C_jj + lambda): SGD does not move where there is no gradient noise, and there the
// posterior is as wide as the prior. With a rate each, parameters without correlation forget in n /
// 2 S steps; neighbouring pixels are so correlated that this is stable with small minibatches only.
Learned learn_by_sgd(const PrecisionTask& task, double start, double passes, std::uint64_t seed,
                     SgdKind kind);

// Maximises the variational lower bound, mean-field, in theta and lambda.
Learned by_bbvi(const PrecisionTask& task, double start, double passes, std::uint64_t seed);

// The engine's own method, learn_prior_precision.
Learned by_engine(const PrecisionTask& task, double start, double passes, std::uint64_t seed);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_PRECISION_LEARNING_H_
