// The settings of an engine. Everything has a default but the number of features.
#ifndef WINDHOVER_RUNTIME_CONFIG_H_
#define WINDHOVER_RUNTIME_CONFIG_H_

#include <cstdint>
#include <span>

#include "windhover/platform/result.h"
#include "windhover/runtime/labels/labels_config.h"
#include "windhover/runtime/missing_features.h"
#include "windhover/samplers/config.h"
#include "windhover/samplers/single_pass_options.h"

namespace windhover {

// What N means: which observations the posterior stands on, and how much each counts.
enum class Horizon : std::uint8_t {
  kWindow,      // the last N, held in memory and drawn from again and again
  kFading,      // all, each seen once, older ones fading: worth N together
  kAll,         // all so far, each seen once and counting the same
  kAdaptive,    // kWindow, or kForgetting of fewer rows where that has predicted better of late
  kForgetting,  // the last 2 N, as kWindow, but older ones count less: worth N together
};

// Whether the rows of the posterior are held in memory and drawn from again and again.
inline bool keeps_window(Horizon horizon) {
  return horizon == Horizon::kWindow || horizon == Horizon::kAdaptive ||
         horizon == Horizon::kForgetting;
}

// Whether rows in memory count by their age.
inline bool weighs_ages(Horizon horizon) {
  return horizon == Horizon::kAdaptive || horizon == Horizon::kForgetting;
}

// What becomes of rows far from what was predicted (learning/surprise_limit.h). All but kKeep need
// a window.
enum class SurprisingRows : std::uint8_t {
  kKeep,        // nothing: they are not looked for
  kCount,       // they are counted
  kDownWeight,  // and count for less, the less the farther off they are
  kSetAside,    // and count for nothing
};

// The units in which a model sees the features, or y. Answers are in those of the rows.
enum class Standardize : std::uint8_t {
  // With the default prior: kScaled for the features of dense rows, and kColdStart for a y that is
  // a number or a count; otherwise kOff.
  kChosen,
  kOff,
  kColdStart,  // mean and sd of the rows of the cold start, frozen when chains start
  kGiven,      // feature_shift and feature_scale, target_shift and target_scale below
  // For features only: as kColdStart, but columns of two values are scaled by their range, as
  // rstanarm scales its priors, and nothing is shifted where the model has no intercept.
  kScaled,
};

// What is kept of the curvature of -log p and of the gradient's noise.
enum class Structure : std::uint8_t {
  // kDiagonal for the models below with more than kMostFullColumns sparse features and a window, if
  // all other settings allow it; otherwise kFull.
  kChosen,
  kFull,  // all of it: memory and time grow with the square of the number of parameters
  // One number a parameter: memory is in proportion to the parameters, and the time of a row to its
  // non-zeros. For logistic, linear, log-normal and Student's t models of sparse rows with a window
  // (runtime/learning/row_block_learner.h).
  kDiagonal,
};

inline constexpr std::uint32_t kMostFullColumns = 2'000;
inline constexpr std::uint32_t kMostColumns = 16'777'216;  // with Structure::kDiagonal

inline constexpr std::uint32_t kDefaultChains = 8;  // with a window
inline constexpr std::uint32_t kMaxLearnerThreads = 16;

// How wide predictions are where rows depend on one another (score_autocorrelation).
enum class DependentSpread : std::uint8_t {
  kPosterior,  // as the posterior's sd says, which is too little
  kRobust,     // as sd_robust says; the answer says so (Provenance::robust_spread)
};

struct EngineConfig {
  ModelConfig model;
  SamplerConfig sampler;

  Structure structure = Structure::kChosen;
  Horizon horizon = Horizon::kWindow;  // which observations the posterior stands on
  SurprisingRows surprising_rows = SurprisingRows::kKeep;
  SinglePassNoise single_pass_noise = SinglePassNoise::kWeights;
  ForgettingSpread forgetting_spread = ForgettingSpread::kSampling;
  DependentSpread dependent_spread = DependentSpread::kRobust;

  // Whether the engine can be saved and restored. Takes room for a copy of the learner's state,
  // about as much as estimates, chains and one snapshot (runtime/checkpoint/capture.md).
  bool checkpoints = false;

  // N: the posterior is that of the last N observations, of at most N (kAdaptive), or worth N of
  // them (kForgetting, kFading). With kAll it only bounds the rows that a cold start waits for.
  std::uint64_t window_size = 100'000;
  std::uint64_t window_slack = 65'536;    // rows the writer may be ahead of the slowest reader
  std::uint32_t max_frame_rows = 32'768;  // rows of one observe() call; slack >= 2 of these
  // How many followers may read rows as they come, beside the learner (Engine::follower).
  std::uint32_t max_followers = 0;
  // Whether the engine can take its rows from another one (Engine::follow). Takes room for 1,024
  // rows.
  bool follows = false;
  // Whether rows are predicted before they are learned from, and the predictions scored by their
  // outcomes (scoring/prequential.h). Takes up to a twentieth of the learner's time.
  bool score_predictions = false;
  // Predictions whose outcome comes later; none by default.
  LabelsConfig labels;

  // The target of R: rows that each chain draws for each new one. 0: none, the learner never rests.
  double draws_per_observation = 4.0;

  Standardize standardize = Standardize::kChosen;
  std::span<const double> feature_shift;  // kGiven: `features` numbers each
  std::span<const double> feature_scale;
  // Dense rows: what NaN in each feature stands for, in rows and questions alike; empty: NaN is
  // refused.
  std::span<const MissingFeature> missing_features;
  // How y is standardised. Without an intercept y is not shifted. A count is not scaled, and its
  // shift is one of the linear predictor, the log of its mean. Classes have neither.
  Standardize standardize_target = Standardize::kChosen;
  double target_shift = 0.0;  // kGiven; log-normal: of log y
  double target_scale = 1.0;

  // Threads that may work on a round: poll()'s and those of Engine::assist(). Each costs the
  // scratch of a model. More than 1 needs a window and a full structure. Results do not depend on
  // it.
  std::uint32_t learner_threads = 1;

  std::uint32_t retained_draws = 64;  // draws in every snapshot
  std::uint32_t max_readers = 9;
  std::uint32_t max_watchers = 0;  // Readers beside them that never predict, and take less memory
  std::uint32_t max_query_rows = 256;  // rows of one predict() call
  std::uint64_t seed = 1;
  std::uint64_t schema_fingerprint = 0;  // of feature names and encodings, where there are any
};

const char* to_string(SurprisingRows what) noexcept;

// Checks a configuration. Returns true, or for the first field that is wrong a sentence and the
// number it holds. O(features); does not allocate.
Result<bool> check(const EngineConfig& config) noexcept;

// kFull or kDiagonal, whichever `config` has or leads to; it may be any configuration.
Structure structure_of(const EngineConfig& config) noexcept;

// With kAdaptive and a diagonal structure so many rows are held; those before them stay as a normal
// density for each column (samplers/row_blocks/condensed_past.h).
inline constexpr std::uint64_t kUncondensedRows = 4096;
inline bool condenses_past(const EngineConfig& config) noexcept {
  return config.horizon == Horizon::kAdaptive && structure_of(config) == Structure::kDiagonal;
}

// True, or what is wrong with the structure. REQUIRES: check() accepts all else.
Result<bool> check_structure(const EngineConfig& config) noexcept;

// The configuration with every "0: default" replaced by the number it stands for.
EngineConfig with_defaults(const EngineConfig& config) noexcept;

// S while the window holds so many rows: a quarter of them at most. REQUIRES: with_defaults()
// returned the configuration.
std::uint64_t minibatch_rows(const EngineConfig& config, std::uint64_t rows) noexcept;
// How many rows a cold start waits for: max(100, 4 D), but at most N / 4 (kAll: N), and at least 4.
std::uint64_t cold_start_rows(const EngineConfig& config) noexcept;
// How many rows stay in memory beside the slack: N; 2 N with kForgetting; with condenses_past() at
// most kUncondensedRows; without a window those of the cold start.
std::uint64_t rows_in_memory(const EngineConfig& config) noexcept;

// A hash of what the meaning of a row depends on: likelihood, features, sparsity, intercept,
// dimension, offset, weight, feature names and encodings.
std::uint64_t fingerprint(const ModelConfig& model, std::uint64_t schema_fingerprint) noexcept;
// The same where the dimension is known, but not the hidden units or classes that lead to it.
std::uint64_t fingerprint(const ModelConfig& model, std::uint32_t dimension,
                          std::uint64_t schema_fingerprint) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_CONFIG_H_
