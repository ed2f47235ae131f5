// Posterior predictive of softmax regression: the probability of each class, and how certain it is.
#ifndef WINDHOVER_RUNTIME_PREDICTION_CLASS_PROBABILITIES_H_
#define WINDHOVER_RUNTIME_PREDICTION_CLASS_PROBABILITIES_H_

#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/runtime/posterior/posterior.h"
#include "windhover/runtime/prediction/predictive.h"

namespace windhover {

// The C - 1 linear predictors at an x are jointly normal; the probabilities are their softmax,
// whose expectation has no closed form. So they are averaged over kDraws points of that normal
// distribution: made from the same standard normals for every x, in pairs of opposite sign, whose
// covariance is exactly the identity. Means then err by a small part of probs_sd, the ends of
// intervals by about a tenth of it. Memory about (1.5 kDraws + 2 D) C doubles. One thread.
class ClassProbabilities {
 public:
  static constexpr std::size_t kDraws = 512;

  // Takes memory, writes nothing; none when the model has no classes.
  ClassProbabilities(Arena& arena, const ModelConfig& model) noexcept;

  // Call it before the rows of a request.
  void begin(std::uint64_t seed) noexcept;
  // Fills in what `summary` says of classes. x: transformed features, with the intercept's 1;
  // `outcome` may be null. Takes C D^2 + kDraws C^2 products.
  void predict(const Posterior& posterior, const double* x, const PredictRequest& request,
               const double* outcome, PredictiveSummary& summary) noexcept;

 private:
  void colour(const Posterior& posterior, const PredictRequest& request, const double* x) noexcept;
  void summarize(const PredictRequest& request, PredictiveSummary& summary) noexcept;

  std::uint32_t classes_;
  std::uint32_t outputs_;  // classes - 1; class 0 is the reference
  std::uint32_t columns_;
  std::uint32_t dimension_;
  double* normals_;     // kDraws / 2 x outputs, column-major
  std::size_t stride_;  // of the rows in the next two
  double* rows_;        // outputs x dimension: row a has x at the place of output a's parameters
  double* whitened_;    // likewise
  double* pull_;        // dimension
  double* centre_;      // outputs
  double* root_;        // outputs x outputs, lower: of the predictors' covariance
  double* eta_;         // 2 x outputs
  double* probs_;       // kDraws x classes, column-major
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_PREDICTION_CLASS_PROBABILITIES_H_
