// Posterior predictive of softmax regression: the probability of each class and how sure it is.
#ifndef WINDHOVER_RUNTIME_PREDICTION_CLASS_PROBABILITIES_H_
#define WINDHOVER_RUNTIME_PREDICTION_CLASS_PROBABILITIES_H_

#include <cstdint>

#include "windhover/platform/arena.h"
#include "windhover/runtime/posterior/posterior.h"
#include "windhover/runtime/prediction/predictive.h"

namespace windhover {

// The C - 1 linear predictors at an x are jointly normal; the probabilities are their softmax,
// which has no closed expectation. So they are averaged over kDraws points of that normal
// distribution: the same for every x, in pairs of opposite sign, and with exactly the identity for
// covariance before they are coloured. Means then err by a small part of probs_sd, the edges of the
// bands by about a tenth of it. Memory about (kDraws + 2 D) C. One thread.
class ClassProbabilities {
 public:
  static constexpr std::size_t kDraws = 512;

  // Takes memory, writes nothing; none when the model has no classes.
  ClassProbabilities(Arena& arena, const ModelConfig& model) noexcept;

  // Call it before the rows of a request.
  void begin(std::uint64_t seed) noexcept;
  // Fills in what `summary` says of classes. x is in transformed features, the intercept's 1
  // included; `outcome` may be null. Complexity C D^2 + kDraws C^2.
  void predict(const Posterior& posterior, const double* x, const PredictRequest& request,
               const double* outcome, PredictiveSummary& summary) noexcept;

 private:
  void colour(const Posterior& posterior, const double* x) noexcept;
  void summarize(const PredictRequest& request, PredictiveSummary& summary) noexcept;

  std::uint32_t classes_;
  std::uint32_t outputs_;  // classes - 1; class 0 is the reference
  std::uint32_t columns_;
  std::uint32_t dimension_;
  double* normals_;     // kDraws / 2 x outputs, column-major
  std::size_t stride_;  // of the rows in the next two
  double* rows_;        // outputs x dimension: x at each output's place
  double* whitened_;    // likewise
  double* centre_;      // outputs
  double* root_;        // outputs x outputs, lower: of the predictors' covariance
  double* eta_;         // 2 x outputs
  double* probs_;       // kDraws x classes, column-major
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_PREDICTION_CLASS_PROBABILITIES_H_
