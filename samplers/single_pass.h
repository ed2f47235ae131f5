// Chains that see every row once, on the same fresh minibatch: posteriors without a window.
//
// Chain k is recursive least squares of an objective of its own, in which every row has a random
// weight w (mean 1, variance v) and the prior has a random centre mu_k ~ N(0, Lambda^-1), drawn
// once:
//   W <- keep W + S,
//   theta <- theta - A^-1 [ (1/W) sum_i w_i g_i(theta) + (1 - keep) / n Lambda (theta - mu_k) ].
// Without such noise of their own all chains would run into one point. Their spread is
//   v A^-1 (C + Lambda / n) A^-1 / n_kish,  n_kish = W^2 / sum of squared row weights.
// Where the rows inform it is the sampling covariance of the estimate (Newton and Raftery 1994;
// Fang, Xu and Yang 2018), and where they do not the prior's, because mu_k never fades.
//
//   all         keep = 1: the gain S / W is 1 / t, and n = W = rows so far. (The gain 2 S / n, the
//               constant rate of Mandt et al. 2017 for a growing n, would make the spread 4/3 of
//               what it should be.)
//   fading      keep = 1 - h, h = 2 S / (N + S), once W has grown to S / h: then n_kish = N.
//               With ForgettingSpread::kPosterior n = W, which is half as much, and v = n_kish / W
//               doubles the spread: the posterior under exponentially discounted rows.
//
// Rows may also have weights from the host, and count as so many equal rows. C is then that of
// these equal rows: the rows' own C times r = (sum of the weights) / (sum of their squares). The
// random weights have variance v r, as the mean of that many random weights of variance v would.
// Where v r is below 1, each random weight is 1 - sqrt(v r) or 1 + sqrt(v r) with equal chance, so
// that a chain's place is a sum of many terms however much a row weighs.
//
// Instead of random weights, noise can be injected, whose covariance is C (the same law) or the
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

// Sums the weights of the rows so far. One thread.
class RowWeights {
 public:
  // `effective_size`: N, or 0 where nothing is ever forgotten.
  RowWeights(double effective_size, ForgettingSpread spread) noexcept
      : effective_size_(effective_size), spread_(spread) {}

  void reset(double rows) noexcept { sum_ = squares_ = rows; }
  // Takes in `rows` fresh rows; returns `keep`, the factor of the rows before them.
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

// All chains share one; Chain::state holds mu_k. One thread. Memory 2 D, with injected noise D^2
// more.
class SinglePass {
 public:
  SinglePass(Arena& arena, std::uint32_t dimension, SinglePassNoise noise) noexcept;

  // `factor` is that of A and must live on. Complexity O(D^3) with injected noise, else O(1).
  void refresh(const Estimates& estimates, const Factor& factor,
               const double* prior_precision) noexcept;
  // Reads A, C and the prior from there from now on; the rest of refresh() stays as it was.
  void look_at(const Estimates& estimates, const Factor& factor,
               const double* prior_precision) noexcept;
  // Whether the last refresh() was given C; otherwise A stood for it.
  bool noise_known() const noexcept { return noise_covariance_ != curvature_; }

  bool weighs_rows() const noexcept { return noise_ == SinglePassNoise::kWeights; }
  // Fresh rows with random weights of that variance. `chosen` are the heavier ones; with injected
  // noise, all.
  struct WeighedRows {
    RowBatch all;
    RowBatch chosen;
    double variance;
  };
  // The rows of this chain's draw. REQUIRES: `chosen` has room for all of `fresh`.
  WeighedRows choose(const RowBatch& fresh, double weight_variance, Rng& rng,
                     std::span<std::uint32_t> chosen) const noexcept;

  // Draws mu_k, and puts theta at the mode of the prior centred there, as far as it is without the
  // rows' gradients: seed() adds these row by row.
  void start(Chain& chain, const double* mode, Rng& rng) const noexcept;
  // Adds rows by their gradients at the mode; together they are the rows the mode is of.
  void seed(Chain& chain, const double* mode, GradientSource& gradient,
            const WeighedRows& rows) noexcept;
  // Takes rows out again, each with weight 1, whichever were chosen.
  void unseed(Chain& chain, const double* mode, GradientSource& gradient) noexcept;
  // With injected noise: adds the noise that random weights of `rows` rows would have given.
  void seed_noise(Chain& chain, double rows, double weight_variance, Rng& rng) noexcept;

  // Makes one move on rows that weights.add() has counted; `keep` is what it returned. kDiverged:
  // theta is not finite. Complexity O(S D + D^2).
  Status step(Chain& chain, GradientSource& gradient, const RowWeights& weights,
              const WeighedRows& rows, double keep, Rng& rng) noexcept;

  // H and noise covariance of the constant-rate chain with the same stationary covariance.
  void law(double minibatch_size, double* preconditioner, double* injected) const noexcept;

  // Leaves out what it was given to read, which its owner shows. REQUIRES: refresh(), or on a
  // restore look_at().
  void visit_state(StateVisitor& visitor) noexcept;

 private:
  // gradient_ times the number returned is the sum of the rows' gradients at theta, each times its
  // random weight. With random weights it overwrites normals_ too.
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
