// The fields by which a user configures a model and a sampler, and their defaults.
#ifndef WINDHOVER_SAMPLERS_CONFIG_H_
#define WINDHOVER_SAMPLERS_CONFIG_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace windhover {

inline constexpr std::uint32_t kMaxClasses = 64;
class Metric;

// The activation function of a network's hidden units.
enum class Activation : std::uint8_t { kTanh, kRelu, kLogistic };

// The names are looked up in the registry (samplers/registry.h). A string_view or span here must
// outlive only the call that takes the configuration.
struct ModelConfig {
  std::string_view name = "linear";
  std::uint32_t features = 0;      // columns of a row, without the intercept
  std::uint32_t max_nonzeros = 0;  // 0: dense rows; otherwise the most that a sparse row has
  bool intercept = true;           // a constant 1, the last coefficient
  // Each row has an offset: a known addend of its linear predictor, in units of y, log counts or
  // log-odds. Generalized linear models other than binomial take one.
  bool offset = false;
  // Each row has a weight: how many equal rows it counts as. Networks take none.
  bool weight = false;
  // Each row has room for the weight that its learner gives it; set by EngineConfig.
  bool learner_weight = false;
  // The precision of the Gaussian prior, of mean 0, for every coefficient but the intercept, in the
  // units of features and y. 0: weakly informative. The sd is then 2.5 in units of sd(y) / sd(x),
  // and features and y are standardised unless EngineConfig says otherwise.
  double prior_precision = 0.0;
  double intercept_precision = 0.0;  // 0: the same with the default prior, otherwise 0.1
  // Learns the prior precision from the rows, from the one above on and within these bounds: one
  // for all features, or one for each group (runtime/learning/prior_precision.h). Not for networks.
  bool learn_prior_precision = false;
  double prior_precision_min = 1e-6;
  double prior_precision_max = 1e6;
  std::span<const std::uint32_t> prior_groups = {};  // of each feature, from 0; empty: one group
  // The noise variance of y given x in units of y^2 (linear), its squared scale (student-t), or the
  // noise variance of log y given x (log-normal). 0 learns it.
  double noise_variance = 0.0;
  double degrees_of_freedom = 4.0;  // student-t: at least 3
  std::uint32_t classes =
      2;  // softmax, mlp-softmax, drbm: 2 to kMaxClasses; targets are 0 to classes - 1

  std::uint32_t hidden = 8;   // networks: units of the first hidden layer
  std::uint32_t hidden2 = 0;  // the same of the second; 0: there is none
  Activation activation = Activation::kTanh;

  // Whether rows may have a weight other than 1.
  bool weighted() const { return weight || learner_weight; }
  // The columns of a row: the features, and the intercept's 1.
  std::uint32_t columns() const { return features + (intercept ? 1U : 0U); }
  // How many parameters the model of this name has; columns() when there is no such model. Defined
  // by the registry.
  std::uint32_t dimension() const noexcept;
  // Whether each row has a number of trials: those of a binomial model do. Defined by the registry.
  bool has_trials() const noexcept;
  // Whether the prior is the default one, of with_prior(). For networks the default stays 1 and
  // 0.1: weights are divided by the root of the fan-in, and inputs have size 1.
  bool default_prior() const { return prior_precision == 0; }
  ModelConfig with_prior() const noexcept;
};

// How the gradient-noise covariance C is estimated.
enum class NoiseEstimator : std::uint8_t {
  kWindowSweep,      // every row of the window once a pass, at the current iterate (default)
  kWithinMinibatch,  // Ahn, Korattikara, Welling 2012, eq. 12
  kRecursion,        // Mandt, Hoffman, Blei 2017, eq. 21, with its (1 - 1/S) bias removed
};

// How much of C is kept.
enum class NoiseStructure : std::uint8_t {
  kFull,      // D x D; O(S D^2) a minibatch
  kDiagonal,  // the D variances alone; O(S D). For samplers that read no more
};

// The weight of the newest estimate at update t = 1, 2, ...
enum class DecaySchedule : std::uint8_t {
  kHarmonic,    // 1 / t
  kPolynomial,  // c / (t + c - 1)
  kConstant,    // c, in (0, 1]
};

struct SamplerConfig {
  std::string_view name = "calibrated";
  // S. 0: the larger of 64 and twice the dimension; with a window a 200th of the rows, up to 256,
  // where that is more. Never more than a fourth of the rows.
  std::uint32_t minibatch_size = 0;
  bool minibatch_grows = false;  // set where S was 0: minibatch_size is then its largest value
  // K chains, each with minibatches of its own. 0: 8, or without a window one for every retained
  // draw.
  std::uint32_t chains = 0;
  bool shared_minibatches = false;  // refused with several chains: they would become one
  NoiseEstimator noise_estimator = NoiseEstimator::kWindowSweep;
  NoiseStructure noise_structure = NoiseStructure::kFull;
  DecaySchedule decay = DecaySchedule::kPolynomial;
  double decay_constant = 4.0;
  double injected_noise = 5.0;   // calibrated, momentum: tau of calibrated.h, >= 0
  double noise_scale = 1.0;      // SGFS: alpha of samplers/fisher_scoring/fisher_scoring.h, >= 0
  double step_size_max = 0.0;    // SGFS: h_max, 0: none
  std::uint32_t block_size = 8;  // sgfs-block: parameters a block, >= 1
  std::uint32_t rank = 4;        // sgfs-lr: factors beside the diagonal
  double momentum = 0.9;         // momentum: beta, in [0, 1)

  // The Langevin family (samplers/langevin/langevin.h, and a page for each sampler in
  // samplers/docs). h (santa: eta); also the rate of sandwich.h, noise_completion.h and iasg. 0:
  // computed.
  double step_size = 0.0;
  double step_decay = 0.0;              // sgld: gamma of h (1 + t / b)^-gamma
  double step_offset = 1000.0;          // sgld: b
  double temperature = 1.0;             // of the posterior drawn from and served; below 1: cold
  double initial_temperature = 0.0;     // sgld, santa: annealing starts here; 0: none
  double annealing_steps = 1000.0;      // sgld, santa: moves in which the temperature falls
  double annealing_exponent = 1.0;      // sgld, santa: exponent of that fall
  double friction = 0.0;                // sghmc, thermostats: share of v lost a move; 0: chosen
  double smoothing = 0.99;              // psgld, santa: weight of the past in the preconditioner
  double preconditioner_floor = 1e-5;   // psgld, santa: lambda, which bounds it
  std::uint32_t cycle_steps = 10'000;   // csgld: moves a cycle
  double exploration = 0.25;            // csgld: share of a cycle without noise
  std::uint64_t exploration_steps = 0;  // santa: moves until it refines; 0: it never does
  const Metric* metric = nullptr;       // rsgld: the host's own; null: the curvature
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_CONFIG_H_
