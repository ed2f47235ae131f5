// What a user may say about a model and a sampler, and what the defaults are.
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
  std::uint32_t max_nonzeros = 0;  // 0: dense rows; otherwise sparse rows of at most so many
  bool intercept = true;           // a constant 1, the last coefficient
  // Each row has an offset: a number that is added to its linear predictor, in units of y, log
  // counts or log-odds. Generalized linear models other than binomial take one.
  bool offset = false;
  // Each row has a weight: how many equal rows it counts as. Networks take none.
  bool weight = false;
  // Each row has room for what its learner makes of its weight; set by EngineConfig.
  bool learner_weight = false;
  // The precision of the Gaussian prior, of mean 0, of every coefficient but the intercept. 0:
  // weakly informative, that is an sd of 2.5 in the units of sd(y) / sd(x), and features and y are
  // standardised unless EngineConfig says otherwise. Any other number is in the units that the
  // features and y are in.
  double prior_precision = 0.0;
  double intercept_precision = 0.0;  // 0: with the default prior the same, otherwise 0.1
  // Learns the prior precision from the rows, beginning with the one above and within these bounds:
  // one for all features, or one for each group (runtime/learning/prior_precision.h). Networks
  // cannot.
  bool learn_prior_precision = false;
  double prior_precision_min = 1e-6;
  double prior_precision_max = 1e6;
  std::span<const std::uint32_t> prior_groups = {};  // of each feature, from 0; empty: one for all
  // The noise variance. linear: of y given x, in units of y^2; student-t: the square of its scale,
  // likewise; log-normal: of log y given x. 0 learns it.
  double noise_variance = 0.0;
  double degrees_of_freedom = 4.0;  // student-t: at least 3
  std::uint32_t classes =
      2;  // softmax, mlp-softmax, drbm: 2 to kMaxClasses; targets are 0 to classes - 1

  std::uint32_t hidden = 8;   // networks: units of the first hidden layer
  std::uint32_t hidden2 = 0;  // likewise of the second; 0: there is none
  Activation activation = Activation::kTanh;

  // Whether rows count as more or less than one.
  bool weighted() const { return weight || learner_weight; }
  // The columns of a row: the features, and the intercept's 1.
  std::uint32_t columns() const { return features + (intercept ? 1U : 0U); }
  // How many parameters the model of this name has; columns() when there is none. Defined by the
  // registry.
  std::uint32_t dimension() const noexcept;
  // Whether each row has a number of trials: those of a binomial model do. Defined by the registry.
  bool has_trials() const noexcept;
  // The numbers that 0 stands for in the prior. For networks the default stays 1 and 0.1: weights
  // are divided by the root of the fan-in, and what comes in is of size 1. Defined by the registry.
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
  // S. 0: a 200th of the rows, but at least 64 and twice the dimension, and at most 256 where that
  // is more (without a window the least of these).
  std::uint32_t minibatch_size = 0;
  bool minibatch_grows = false;  // set where S was 0: minibatch_size is then the most
  // K, each with draws of its own. 0: 8, or without a window one for every retained draw.
  std::uint32_t chains = 0;
  bool shared_minibatches = false;  // refused with several chains: they would collapse
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

  // The Langevin family: samplers/langevin/langevin.h and the page of each sampler in
  // samplers/docs. h (santa: eta); also the rate of sandwich.h and noise_completion.h. 0: computed
  double step_size = 0.0;
  double step_decay = 0.0;              // sgld: gamma of h (1 + t / b)^-gamma
  double step_offset = 1000.0;          // sgld: b
  double temperature = 1.0;             // of the posterior drawn from and served; below 1: cold
  double initial_temperature = 0.0;     // sgld, santa: annealing starts here; 0: none
  double annealing_steps = 1000.0;      // sgld, santa: moves in which the temperature falls
  double annealing_exponent = 1.0;      // sgld, santa: and how fast
  double friction = 0.0;                // sghmc, thermostats: lost a move, at most 1; 0: chosen
  double smoothing = 0.99;              // psgld, santa: weight of the past in the preconditioner
  double preconditioner_floor = 1e-5;   // psgld, santa: lambda, keeps it finite
  std::uint32_t cycle_steps = 10'000;   // csgld: moves a cycle
  double exploration = 0.25;            // csgld: share of a cycle without noise
  std::uint64_t exploration_steps = 0;  // santa: moves until it refines; 0: it never does
  const Metric* metric = nullptr;       // rsgld: the host's own; null: the curvature
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_CONFIG_H_
