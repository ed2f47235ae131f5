// Checks what a configuration may say.
#include "windhover/runtime/config.h"

#include <algorithm>
#include <cmath>

#include "windhover/runtime/config_error.h"
#include "windhover/runtime/observation.h"
#include "windhover/samplers/registry.h"

namespace windhover {

namespace {

bool positive(double x) noexcept { return x > 0 && std::isfinite(x); }

// REQUIRES: the rest of the prior and the number of features have been checked.
Result<bool> check_prior(const ModelConfig& m) noexcept {
  if (!m.learn_prior_precision) {
    if (m.prior_groups.empty()) return true;
    return invalid("model.prior_groups must be empty unless the prior precision is learned",
                   static_cast<double>(m.prior_groups.size()));
  }
  // Where rows say little the draws of a network spread less than the prior; a precision learned
  // from them would grow, they would spread less again, and so on.
  if (find_model(m.name)->network) {
    return invalid("model.learn_prior_precision must be false for a network", 1);
  }
  if (!positive(m.prior_precision_min) || m.prior_precision_min > m.prior_precision) {
    return invalid("model.prior_precision_min must be positive and at most model.prior_precision",
                   m.prior_precision_min);
  }
  if (!positive(m.prior_precision_max) || m.prior_precision_max < m.prior_precision) {
    return invalid("model.prior_precision_max must be finite and at least model.prior_precision",
                   m.prior_precision_max);
  }
  if (!m.prior_groups.empty() && m.prior_groups.size() != m.features) {
    return invalid("model.prior_groups must hold model.features numbers, or none",
                   static_cast<double>(m.prior_groups.size()));
  }
  for (const std::uint32_t group : m.prior_groups) {
    if (group >= m.features) {
      return invalid("model.prior_groups must be numbers below model.features", group);
    }
  }
  return true;
}

Result<bool> check_model(const ModelConfig& m) noexcept {
  if (find_model(m.name) == nullptr) {
    return invalid("model.name must be one of those that `windhover models` lists",
                   static_cast<double>(model_registry().size()));
  }
  if (m.features < 1 || m.features > kMostColumns) {
    return invalid("model.features must be 1 to 16777216", m.features);
  }
  if (m.max_nonzeros > m.features) {
    return invalid("model.max_nonzeros must be at most model.features", m.max_nonzeros);
  }
  const ModelEntry& model = *find_model(m.name);
  if (m.offset && (model.network || model.response == Response::kCategorical)) {
    return invalid(
        "model.offset must be false for softmax and networks: they have several "
        "linear predictors",
        1);
  }
  if (m.offset && m.has_trials()) {
    return invalid("model.offset must be false for binomial: its rows have trials in its place", 1);
  }
  if (!m.intercept && model.response == Response::kHeteroscedastic) {
    return invalid("model.intercept must be true for heteroscedastic: a variance needs one", 0);
  }
  if (m.weight && model.network) {
    return invalid("model.weight must be false for networks: they count every row once", 1);
  }
  if (m.prior_precision != 0 && !positive(m.prior_precision)) {
    return invalid("model.prior_precision must be positive (0: chosen)", m.prior_precision);
  }
  if (m.intercept && m.intercept_precision != 0 && !positive(m.intercept_precision)) {
    return invalid("model.intercept_precision must be positive (0: chosen)", m.intercept_precision);
  }
  if (const auto r = check_prior(m.with_prior()); !r.ok()) return r;
  if (!(m.noise_variance >= 0) || !std::isfinite(m.noise_variance)) {
    return invalid("model.noise_variance must be a finite number of at least 0 (0: learned)",
                   m.noise_variance);
  }
  if (m.classes < 2 || m.classes > kMaxClasses) {
    return invalid("model.classes must be 2 to 64", m.classes);
  }
  if (m.hidden < 1 || m.hidden > 1024) return invalid("model.hidden must be 1 to 1024", m.hidden);
  if (m.hidden2 > 1024) return invalid("model.hidden2 must be 0 to 1024", m.hidden2);
  // A network's curvature and noise covariance are full matrices.
  if (model.network && m.dimension() > 4096) {
    return invalid("a network must have at most 4096 parameters", m.dimension());
  }
  if (!(m.degrees_of_freedom >= 3) || m.degrees_of_freedom > 1000) {
    return invalid("model.degrees_of_freedom must be 3 to 1000", m.degrees_of_freedom);
  }
  return true;
}

Result<bool> check_sampler(const SamplerConfig& s, std::uint64_t window_size) noexcept {
  const SamplerEntry* entry = find_sampler(s.name);
  if (entry == nullptr) {
    return invalid("sampler.name must be one of those that `windhover samplers` lists",
                   static_cast<double>(sampler_registry().size()));
  }
  if (s.minibatch_size > window_size) {
    return invalid("sampler.minibatch_size must be at most window_size", s.minibatch_size);
  }
  if (s.chains > 1024) {
    return invalid("sampler.chains must be 1 to 1024 (0: chosen)", s.chains);
  }
  if (s.shared_minibatches && s.chains != 1) {
    return invalid(
        "sampler.shared_minibatches must be false: chains that share minibatches collapse onto "
        "one another and their spread is not the posterior's",
        1);
  }
  if (!positive(s.decay_constant)) {
    return invalid("sampler.decay_constant must be a positive number", s.decay_constant);
  }
  if (s.decay == DecaySchedule::kConstant && s.decay_constant > 1) {
    return invalid("sampler.decay_constant must be at most 1 for a constant schedule",
                   s.decay_constant);
  }
  return entry->check(s);
}

// Without a window chains move by one law (samplers/single_pass.h), and no sampler can be chosen.
Result<bool> check_single_pass(const EngineConfig& c) noexcept {
  if (c.horizon == Horizon::kAdaptive && find_model(c.model.name)->network) {
    return invalid("horizon must be window for a model whose posterior may have several modes",
                   static_cast<double>(c.horizon));
  }
  if (keeps_window(c.horizon)) return true;
  if (find_model(c.model.name)->network) {
    return invalid("horizon must be window for a model whose posterior may have several modes", 0);
  }
  if (c.model.learn_prior_precision) {
    return invalid("model.learn_prior_precision must be false where horizon is not window", 1);
  }
  if (c.sampler.name != SamplerConfig{}.name) {
    return invalid("sampler.name must be left at calibrated where horizon is not window", 0);
  }
  if (c.sampler.noise_structure != NoiseStructure::kFull) {
    return invalid("sampler.noise_structure must be full where horizon is not window", 1);
  }
  if (c.sampler.noise_estimator != NoiseEstimator::kWindowSweep) {
    return invalid("sampler.noise_estimator must be window-sweep where horizon is not window", 0);
  }
  if (c.retained_draws > 1024) {
    return invalid(
        "retained_draws must be at most 1024 where horizon is not window: each is a chain",
        c.retained_draws);
  }
  if (c.sampler.chains != 0 && c.sampler.chains != c.retained_draws) {
    return invalid("sampler.chains must be 0 or retained_draws where horizon is not window",
                   c.sampler.chains);
  }
  return true;
}

Result<bool> check_surprising_rows(const EngineConfig& c) noexcept {
  if (c.surprising_rows == SurprisingRows::kKeep) return true;
  const auto what = static_cast<double>(c.surprising_rows);
  if (c.horizon != Horizon::kWindow && c.horizon != Horizon::kAdaptive)
    return invalid("surprising_rows must be keep unless horizon is window or adaptive", what);
  const ModelEntry& model = *find_model(c.model.name);
  if (model.network || !tells_distance(model.response)) {
    return invalid(
        "surprising_rows must be keep unless the model is linear, log-normal, poisson or "
        "binomial",
        what);
  }
  return true;
}

Result<bool> check_transform(const EngineConfig& c) noexcept {
  if (c.standardize != Standardize::kGiven) return true;
  if (c.feature_shift.size() != c.model.features || c.feature_scale.size() != c.model.features) {
    return invalid("feature_shift and feature_scale must hold model.features numbers",
                   static_cast<double>(c.feature_scale.size()));
  }
  for (const double shift : c.feature_shift) {
    if (!std::isfinite(shift)) return invalid("feature_shift must be finite", shift);
    if (c.model.max_nonzeros > 0 && shift != 0) {
      return invalid("feature_shift must be 0 for sparse rows", shift);
    }
  }
  for (const double scale : c.feature_scale) {
    if (!positive(scale)) return invalid("feature_scale must be positive", scale);
  }
  return true;
}

Result<bool> check_missing_features(const EngineConfig& c) noexcept {
  const auto& missing = c.missing_features;
  if (missing.empty()) return true;
  if (c.model.max_nonzeros > 0) {
    return invalid("missing_features are of dense rows: a sparse one leaves out what it lacks",
                   c.model.max_nonzeros);
  }
  if (missing.size() != c.model.features) {
    return invalid("missing_features must hold one for each of model.features",
                   static_cast<double>(missing.size()));
  }
  for (const MissingFeature& feature : missing) {
    if (!feature.may_lack()) continue;
    if (!(std::abs(feature.fill) <= kLargestNumber))
      return invalid("missing_features: a fill is too large", feature.fill);
    if (feature.marker == MissingFeature::kNoMarker) continue;
    if (feature.marker >= missing.size() || missing[feature.marker].may_lack()) {
      return invalid("missing_features: a marker must be a feature that no row may lack",
                     feature.marker);
    }
  }
  return true;
}

Result<bool> check_target_units(const EngineConfig& c) noexcept {
  const Response response = find_model(c.model.name)->response;
  const Standardize how = with_defaults(c).standardize_target;
  if (how == Standardize::kScaled || (how != Standardize::kOff && !has_target_units(response))) {
    return invalid("standardize_target must be off for classes, and never scaled", 1);
  }
  if (c.standardize_target != Standardize::kGiven) return true;
  if (!std::isfinite(c.target_shift) || (c.target_shift != 0 && !c.model.intercept)) {
    return invalid("target_shift must be finite, and 0 without an intercept", c.target_shift);
  }
  if (!positive(c.target_scale) || (c.target_scale != 1 && !is_number(response))) {
    return invalid("target_scale must be positive, and 1 for counts", c.target_scale);
  }
  return true;
}

Result<bool> check_threads(const EngineConfig& c) noexcept {
  if (c.learner_threads < 1 || c.learner_threads > kMaxLearnerThreads) {
    return invalid("learner_threads must be 1 to 16", c.learner_threads);
  }
  if (c.learner_threads == 1) return true;
  if (!keeps_window(c.horizon)) {
    return invalid("learner_threads must be 1 without a window", c.learner_threads);
  }
  if (c.learner_threads > with_defaults(c).sampler.chains) {
    return invalid("learner_threads must be at most sampler.chains", c.learner_threads);
  }
  if (c.sampler.metric != nullptr) {
    return invalid("learner_threads must be 1 with a metric of the host's", c.learner_threads);
  }
  return true;
}

}  // namespace

Result<bool> check(const EngineConfig& c) noexcept {
  if (const auto r = check_model(c.model); !r.ok()) return r;
  if (c.window_size < 4 || c.window_size > 1'000'000'000) {
    return invalid("window_size must be 4 to 10^9", static_cast<double>(c.window_size));
  }
  if (const auto r = check_sampler(c.sampler, c.window_size); !r.ok()) return r;
  if (c.max_frame_rows < 1) return invalid("max_frame_rows must be at least 1", c.max_frame_rows);
  if (c.window_slack < 2 * std::uint64_t{c.max_frame_rows} || c.window_slack > 1'000'000'000) {
    return invalid("window_slack must be at least twice max_frame_rows and at most 10^9",
                   static_cast<double>(c.window_slack));
  }
  if (!(c.draws_per_observation >= 0) || !std::isfinite(c.draws_per_observation)) {
    return invalid("draws_per_observation must be a finite number of at least 0 (0: no target)",
                   c.draws_per_observation);
  }
  if (const auto r = check_transform(c); !r.ok()) return r;
  if (const auto r = check_missing_features(c); !r.ok()) return r;
  if (const auto r = check_target_units(c); !r.ok()) return r;
  if (c.retained_draws < 2 || c.retained_draws > 65'536) {
    return invalid("retained_draws must be 2 to 65536", c.retained_draws);
  }
  if (const auto r = check_single_pass(c); !r.ok()) return r;
  if (const auto r = check_surprising_rows(c); !r.ok()) return r;
  if (const auto r = check_threads(c); !r.ok()) return r;
  if (const auto r = check_structure(c); !r.ok()) return r;
  if (c.max_readers < 1 || c.max_readers > 1024) {
    return invalid("max_readers must be 1 to 1024", c.max_readers);
  }
  if (c.max_watchers > 1024) return invalid("max_watchers must be 0 to 1024", c.max_watchers);
  if (c.max_query_rows < 1 || c.max_query_rows > 65'536) {
    return invalid("max_query_rows must be 1 to 65536", c.max_query_rows);
  }
  if (c.max_followers > 64) return invalid("max_followers must be 0 to 64", c.max_followers);
  return check_labels(c);
}

}  // namespace windhover
