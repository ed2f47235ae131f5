// The shape of a sampler: take memory, refresh from estimates, step a chain.
#ifndef WINDHOVER_SAMPLERS_SAMPLER_H_
#define WINDHOVER_SAMPLERS_SAMPLER_H_

#include <concepts>
#include <string_view>
#include <type_traits>

#include "windhover/platform/arena.h"
#include "windhover/platform/random.h"
#include "windhover/platform/result.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/platform/status.h"
#include "windhover/samplers/config.h"
#include "windhover/samplers/estimates/estimates.h"
#include "windhover/samplers/models/model.h"

namespace windhover {

// One chain: its parameters, the index that sets its random numbers apart, and what its sampler
// keeps for it between steps. `work` is scratch: chains that never move at the same time may share
// it.
struct Chain {
  double* theta = nullptr;  // dimension
  std::uint16_t index = 0;
  double* state = nullptr;  // state_size() numbers, which start() wrote first
  double* work = nullptr;   // step_scratch(dimension) numbers
  bool is_draw = true;      // the sampler says false while it explores or optimises
};

// Gradient, normals and two more vectors.
constexpr std::size_t step_scratch(std::uint32_t dimension) noexcept {
  return 4 * std::size_t{dimension};
}

// The gradient of the mean loss on the current minibatch: (1/S) sum of row gradients / dispersion +
// Lambda theta / n. The prior's part is added once, not weighted by rows.
class GradientSource {
 public:
  GradientSource(Model* model, std::uint32_t dimension, const double* prior_precision) noexcept
      : model_(model), dimension_(dimension), prior_precision_(prior_precision) {}

  // `dispersion` is the shape for models that have one.
  void set_scale(double n, double dispersion) noexcept {
    inverse_n_ = 1.0 / n;
    inverse_dispersion_ = has_shape(model_->response()) ? 1.0 : 1.0 / dispersion;
    model_->set_dispersion(dispersion);
  }
  void set_minibatch(const RowBatch& batch) noexcept { batch_ = batch; }

  // The gradient without the prior, as a sum over the rows, not their mean.
  void likelihood_sum(const double* theta, double* gradient) noexcept {
    model_->gradient_sum(batch_, theta, gradient);
    for (std::uint32_t j = 0; j < dimension_; ++j) gradient[j] *= inverse_dispersion_;
  }

  void operator()(const double* theta, double* gradient) noexcept {
    model_->gradient_sum(batch_, theta, gradient);
    const double scale = inverse_dispersion_ / static_cast<double>(batch_.count);
    for (std::uint32_t j = 0; j < dimension_; ++j) {
      gradient[j] = gradient[j] * scale + prior_precision_[j] * inverse_n_ * theta[j];
    }
  }

 private:
  Model* model_;
  std::uint32_t dimension_;
  const double* prior_precision_;
  RowBatch batch_;
  double inverse_n_ = 0;
  double inverse_dispersion_ = 1;
};

// For check() of a sampler whose refresh() reads off-diagonal entries of C: refuses a diagonal C.
inline Result<bool> check_noise_is_full(const SamplerConfig& config) noexcept {
  if (config.noise_structure != NoiseStructure::kFull) {
    return Error{Status::kInvalidConfig,
                 "noise_structure must be full: this sampler reads C off the diagonal", 1};
  }
  return true;
}

// One comparison a step: 0 * x is NaN for a NaN or an infinity, and so is the sum.
inline Status finite_or_diverged(const double* theta, std::uint32_t dimension) noexcept {
  double sum = 0;
  for (std::uint32_t j = 0; j < dimension; ++j) sum += 0.0 * theta[j];
  return sum == 0.0 ? Status::kOk : Status::kDiverged;
}

// One sampler object serves all chains and owns what they share.
template <class S>
concept Sampler = requires(S s, const S shared, Arena& arena, const SamplerConfig& config,
                           Chain& chain, GradientSource& gradient, const Estimates& estimates,
                           Rng& rng, StateVisitor& visitor) {
  { S::kName } -> std::convertible_to<std::string_view>;
  // Whether this configuration is possible. For set-up only.
  { S::check(config) }
  noexcept->std::same_as<Result<bool>>;
  // Takes memory, writes nothing.
  requires std::is_nothrow_constructible_v<S, Arena&, const SamplerConfig&, std::uint32_t>;
  // Takes new n, A and C, and recomputes the preconditioner. kNotPositiveDefinite leaves the old
  // one in place.
  { s.refresh(estimates) }
  noexcept->std::same_as<Status>;
  // Makes one move of one chain. `rng` is at the position of this step and chain. kDiverged: theta
  // is not finite. Threads may move different chains at once, each with a gradient source and
  // scratch of its own.
  { shared.step(chain, gradient, rng) }
  noexcept->std::same_as<Status>;
  // Shows all that a refresh() leaves and step(), start(), law() or the next refresh() reads.
  // REQUIRES: a refresh() has succeeded.
  { s.visit_state(visitor) }
  noexcept->std::same_as<void>;
};

// A sampler that moves with constant coefficients can say its law: H and the covariance of
// `injected`, both D x D on the mean-loss scale, of
//   v <- momentum v - H (gradient + injected),  theta <- theta + v,
// where momentum is 0 for samplers without momentum(). This serves diagnostics and tests.
//
// apply_law() says it without a matrix: vector <- H vector, noise <- Cov(injected) H vector. `room`
// holds D numbers; none of the three overlap. Complexity about that of a step without its gradient.
template <class S>
concept HasLaw = Sampler<S> && requires(const S s, double* matrix, double* vector) {
  { s.law(matrix, matrix) }
  noexcept;
  { s.apply_law(vector, vector, vector) }
  noexcept;
};

// A sampler that keeps numbers for each chain, e.g. a momentum, says how many and how they begin. A
// count of steps is such a number too: doubles count exactly to 2^53.
template <class S>
concept KeepsState = Sampler<S> && requires(const S s, const SamplerConfig& config, Chain& chain,
                                            Rng& rng, std::uint32_t dimension) {
  // How many numbers a chain keeps.
  { S::state_size(config, dimension) }
  noexcept->std::same_as<std::size_t>;
  // Writes all of chain.state, for a chain about to move from chain.theta. REQUIRES: a refresh().
  { s.start(chain, rng) }
  noexcept->std::same_as<void>;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_SAMPLER_H_
