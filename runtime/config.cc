#include "windhover/runtime/config.h"

#include <algorithm>

#include "windhover/samplers/registry.h"

namespace windhover {

namespace {

// A move on few rows costs more than their gradients; one on many takes long beside the window.
constexpr std::uint64_t kMostMinibatch = 256;
constexpr std::uint64_t kRowsAMinibatch = 200;

std::uint64_t least_minibatch(const ModelConfig& model) noexcept {
  return std::max<std::uint64_t>(64, 2 * std::uint64_t{model.dimension()});
}

}  // namespace

EngineConfig with_defaults(const EngineConfig& config) noexcept {
  EngineConfig c = config;
  c.structure = structure_of(config);
  const bool scaled = c.model.default_prior();
  if (c.structure == Structure::kDiagonal && scaled) c.model.learn_prior_precision = true;
  if (c.standardize == Standardize::kChosen) {
    c.standardize = scaled && c.model.max_nonzeros == 0 ? Standardize::kScaled : Standardize::kOff;
  }
  if (c.standardize_target == Standardize::kChosen) {
    const bool units = scaled && has_target_units(find_model(c.model.name)->response);
    c.standardize_target = units ? Standardize::kColdStart : Standardize::kOff;
  }
  c.model = c.model.with_prior();
  c.model.learner_weight = c.surprising_rows == SurprisingRows::kDownWeight ||
                           c.surprising_rows == SurprisingRows::kSetAside;
  if (c.sampler.minibatch_size == 0) {
    const bool window = keeps_window(c.horizon);
    const std::uint64_t size = std::max(least_minibatch(c.model), window ? kMostMinibatch : 0);
    c.sampler.minibatch_size = static_cast<std::uint32_t>(std::min(size, c.window_size));
    c.sampler.minibatch_grows = window;
  }
  if (c.sampler.chains == 0) {
    c.sampler.chains = keeps_window(c.horizon) ? kDefaultChains : c.retained_draws;
  }
  return c;
}

std::uint64_t minibatch_rows(const EngineConfig& config, std::uint64_t rows) noexcept {
  std::uint64_t size = config.sampler.minibatch_size;
  if (config.sampler.minibatch_grows) {
    size = std::min(size, std::max(least_minibatch(config.model), rows / kRowsAMinibatch));
  }
  return std::min(size, std::max<std::uint64_t>(1, rows / 4));
}

std::uint64_t cold_start_rows(const EngineConfig& config) noexcept {
  const std::uint64_t rows =
      std::max<std::uint64_t>(100, 4 * std::uint64_t{config.model.dimension()});
  const std::uint64_t share = config.horizon == Horizon::kAll ? 1 : 4;
  return std::max<std::uint64_t>(4, std::min(rows, config.window_size / share));
}

std::uint64_t rows_in_memory(const EngineConfig& config) noexcept {
  if (config.horizon == Horizon::kForgetting) return 2 * config.window_size;
  if (condenses_past(config)) return std::min(config.window_size, kUncondensedRows);
  return keeps_window(config.horizon) ? config.window_size : cold_start_rows(config);
}

std::uint64_t fingerprint(const ModelConfig& model, std::uint64_t schema_fingerprint) noexcept {
  return fingerprint(model, model.dimension(), schema_fingerprint);
}

std::uint64_t fingerprint(const ModelConfig& model, std::uint32_t dimension,
                          std::uint64_t schema_fingerprint) noexcept {
  std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a
  const auto mix = [&hash](std::uint64_t value) {
    for (int byte = 0; byte < 8; ++byte) {
      hash = (hash ^ ((value >> (8 * byte)) & 0xff)) * 1099511628211ULL;
    }
  };
  for (const char c : model.name) mix(static_cast<std::uint64_t>(c));
  mix(model.features);
  mix(model.max_nonzeros);
  mix(model.intercept ? 1 : 0);
  mix(dimension);
  mix(schema_fingerprint);
  // Absent extras are not mixed in, so that fingerprints stored for models without them stay valid.
  if (model.offset) mix(1);
  if (model.weight) mix(2);
  return hash;
}

}  // namespace windhover
