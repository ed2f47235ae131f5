// Chains that see every row once, on the same fresh minibatch: posteriors without a window.
//
// Chain k is recursive least squares of an objective of its own, in which every row has a random
// weight w (mean 1, variance v) and the prior a random centre mu_k ~ N(0, Lambda^-1), drawn once:
//   W <- keep W + S,
//   theta <- theta - A^-1 [ (1/W) sum_i w_i g_i(theta) + (1 - keep) / n Lambda (theta - mu_k) ].
// Without such noise of their own all chains would run into one point. Their spread is
//   v A^-1 (C + Lambda / n) A^-1 / n_kish,  n_kish = W^2 / sum of squared row weights:
// the sampling covariance of the estimate (Newton and Raftery 1994; Fang, Xu and Yang 2018) where
// the rows inform, and the prior's where they do not, as mu_k never fades.
//
//   all         keep = 1: the gain S / W is 1 / t, n = W = rows so far. (2 S / n, the constant rate
//               of Mandt et al. 2017 with n growing, would make the spread 4/3 of what it should
//               be.)
//   fading      keep = 1 - h, h = 2 S / (N + S), once W has grown to S / h: then n_kish = N.
//               With ForgettingSpread::kPosterior n = W, half as much, and v = n_kish / W doubles
//               the spread: the posterior under exponentially discounted rows.
//
// Rows may have weights of the host's beside, and count as so many equal ones: C is then that of
// these, what it is of the rows themselves times r = (sum of the weights) / (sum of their squares).
// The random weights have variance v r, as the mean of as many of variance v would; below 1 all
// rows have 1 - sqrt(v r), or with chance 1/2 1 + sqrt(v r), so that a chain's place is a sum of
// many terms however much a row counts.
//
// Instead of random weights the noise can be injected: of covariance C (the same law) or of the
// data part of A (the posterior's spread even where the model fails).
#ifndef WINDHOVER_SAMPLERS_SINGLE_PASS_H_
#define WINDHOVER_SAMPLERS_SINGLE_PASS_H_

#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/platform/random.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/samplers/estimates/estimates.h"
#include "windhover/samplers/linear_algebra/linear_algebra.h"
#include "windhover/samplers/sampler.h"
#include "windhover/samplers/single_pass_options.h"

namespace windhover {

// Counts what the rows so far count for. One thread.
class RowWeights {
 public:
  // `effective_size`: N, or 0 where nothing is ever forgotten.
  RowWeights(double effective_size, ForgettingSpread spread) noexcept
      : effective_size_(effective_size), spread_(spread) {}

  void reset(double rows) noexcept { sum_ = squares_ = rows; }
  // Takes in `rows` fresh rows and returns `keep`, what the others are multiplied by.
  double add(double rows) noexcept;

  double sum() const noexcept { return sum_; }  // W
  double kish() const noexcept { return squares_ > 0 ? sum_ * sum_ / squares_ : 0; }
  // n, the number of observations that the posterior stands on.
  double effective() const noexcept {
    return spread_ == ForgettingSpread::kSampling ? kish() : sum_;
  }
  double weight_variance() const noexcept { return sum_ > 0 ? kish() / effective() : 1; }  // v

  void visit_state(StateVisitor& visitor) noexcept { visitor.values(sum_, squares_); }

 private:
  double effective_size_;
  ForgettingSpread spread_;
  double sum_ = 0;
  double squares_ = 0;
};

// All chains share one; Chain::state holds mu_k. One thread. Memory D, with injected noise D^2
// more.
class SinglePass {
 public:
  SinglePass(Arena& arena, std::uint32_t dimension, SinglePassNoise noise) noexcept;

  // `factor` is that of A and must live on. Complexity O(D^3) with injected noise, else O(1).
  void refresh(const Estimates& estimates, const Factor& factor,
               const double* prior_precision) noexcept;
  // Reads A, C and the prior from there from now on, as refresh() does.
  void look_at(const Estimates& estimates, const Factor& factor,
               const double* prior_precision) noexcept;
  // Whether the last refresh() knew C; otherwise A stood for it.
  bool noise_known() const noexcept { return noise_covariance_ != curvature_; }

  bool weighs_rows() const noexcept { return noise_ == SinglePassNoise::kWeights; }
  // Fresh rows under random weights of that variance: those that weigh more, or all where none
  // does.
  struct WeighedRows {
    RowBatch all;
    RowBatch chosen;
    double variance;
  };
  // The rows of this chain's draw. REQUIRES: `chosen` has room for all of `fresh`.
  WeighedRows choose(const RowBatch& fresh, double weight_variance, Rng& rng,
                     std::span<std::uint32_t> chosen) const noexcept;

  // Draws mu_k and puts theta at the mode of the prior so centred without any rows' gradients: what
  // seed() then adds row by row.
  void start(Chain& chain, const double* mode, Rng& rng) const noexcept;
  // Adds rows of those that the mode came from, by their gradients at the mode.
  void seed(Chain& chain, const double* mode, GradientSource& gradient,
            const WeighedRows& rows) noexcept;
  // Takes rows out again that count once each, whichever were chosen.
  void unseed(Chain& chain, const double* mode, GradientSource& gradient) noexcept;
  // With injected noise: adds the noise that random weights of those `rows` would have given.
  void seed_noise(Chain& chain, double rows, double weight_variance, Rng& rng) noexcept;

  // Makes one move on rows that weights.add() has counted; `keep` is what it returned. kDiverged:
  // theta is not finite. Complexity O(S D + D^2).
  Status step(Chain& chain, GradientSource& gradient, const RowWeights& weights,
              const WeighedRows& rows, double keep, Rng& rng) noexcept;

  // H and noise of the constant-rate chain with the same stationary covariance.
  void law(double minibatch_size, double* preconditioner, double* injected) const noexcept;

  // Leaves out what it looks at, which its owner shows. REQUIRES: refresh(), or on a restore
  // look_at().
  void visit_state(StateVisitor& visitor) noexcept;

 private:
  // gradient_ times what is returned is the sum over the rows, each by its random weight, of their
  // gradients at theta. With random weights it takes normals_ too.
  double sum(const double* theta, GradientSource& gradient, const WeighedRows& rows) noexcept;
  void move(Chain& chain, double scale) noexcept;  // theta += scale A^-1 gradient_
  // gradient_ <- noise of covariance C or the data part of A.
  void draw_noise(Rng& rng) noexcept;

  std::uint32_t dimension_;
  SinglePassNoise noise_;
  double n_ = 1;
  const Factor* factor_ = nullptr;
  const double* curvature_ = nullptr;
  const double* noise_covariance_ = nullptr;
  const double* prior_precision_ = nullptr;
  double* gradient_;
  double* normals_;
  double* root_;  // of the noise that is injected
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_SINGLE_PASS_H_
