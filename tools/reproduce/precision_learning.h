// The prior precision lambda of a softmax regression, learned online: what `hyperparameters` runs.
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

// The mode at a given lambda by Adam with a rate that falls to 0: its validation loss, the average
// -log p(y | x, theta).
double loss_at(const PrecisionTask& task, double precision, double passes, std::uint64_t seed);

struct Learned {
  double precision = 0;
  double loss = 0;
};

// How theta moves, and what stands for E|theta|^2.
enum class SgdKind : std::uint8_t {
  kOneRate,        // that of eq. 15, 2 D S / (n Tr C), and the iterates' own square
  kWithVariances,  // the same, and the square of a posterior around the iterates' average
  kDiagonal,       // the same square, and a rate each, 2 S / max(n C_jj + lambda, 0.01 n Tr C / D)
};

// Eq. 22: theta by SGD at a constant rate, lambda by a falling one. C is that of the rows of the
// minibatch, averaged along the way. The square of a posterior counts variances of
// 1 / (n C_jj + lambda): SGD itself never moves where there is no gradient noise, and there the
// posterior is as wide as the prior. With a rate each, parameters that go along with no other
// forget in n / 2 S steps; pixels beside each other are so alike that this is stable with small
// minibatches only.
Learned learn_by_sgd(const PrecisionTask& task, double start, double passes, std::uint64_t seed,
                     SgdKind kind);

// The variational lower bound, mean-field, in theta and lambda.
Learned by_bbvi(const PrecisionTask& task, double start, double passes, std::uint64_t seed);

// The engine's own: learn_prior_precision.
Learned by_engine(const PrecisionTask& task, double start, double passes, std::uint64_t seed);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_PRECISION_LEARNING_H_
