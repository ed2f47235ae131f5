// Which structure a configuration may have and has, and the horizon that follows from it.
#include "windhover/runtime/chosen_horizon.h"
#include "windhover/runtime/config.h"
#include "windhover/runtime/config_error.h"
#include "windhover/runtime/posterior/draw_table.h"
#include "windhover/samplers/registry.h"
#include "windhover/samplers/row_blocks/row_likelihood.h"

namespace windhover {

namespace {

constexpr std::uint32_t kMostFullFeatures = 65'536;

// True, or what keeps a diagonal structure from being used.
Result<bool> check_diagonal(const EngineConfig& c) noexcept {
  const ModelEntry* model = find_model(c.model.name);
  if (model == nullptr || !RowLikelihood::has(model->response)) {
    return invalid(
        "structure must be full unless model.name is logistic, linear, log-normal or "
        "student-t",
        2);
  }
  if (c.model.max_nonzeros == 0) {
    return invalid("structure must be full for dense rows: model.max_nonzeros is", 0);
  }
  const bool condenses = model->response == Response::kBernoulli && !c.model.weight;
  if (c.horizon != Horizon::kWindow && !(condenses && c.horizon == Horizon::kAdaptive)) {
    return invalid(
        "structure must be full unless horizon is window, or adaptive for a logistic model without "
        "weights",
        2);
  }
  if (c.sampler.name != SamplerConfig{}.name || c.sampler.temperature != 1) {
    return invalid(
        "sampler.name and temperature must be left as they are with a diagonal structure",
        c.sampler.temperature);
  }
  if (c.standardize != Standardize::kChosen && c.standardize != Standardize::kOff) {
    return invalid("standardize must be off with a diagonal structure", 1);
  }
  if (c.surprising_rows != SurprisingRows::kKeep) {
    return invalid("surprising_rows must be keep with a diagonal structure",
                   static_cast<double>(c.surprising_rows));
  }
  if (!c.model.prior_groups.empty()) {
    return invalid("model.prior_groups must be empty with a diagonal structure",
                   static_cast<double>(c.model.prior_groups.size()));
  }
  if (c.learner_threads > 1) {
    return invalid("learner_threads must be 1 with a diagonal structure", c.learner_threads);
  }
  const std::uint32_t chains = c.sampler.chains == 0 ? kDefaultChains : c.sampler.chains;
  if (chains < 2) {
    return invalid("sampler.chains must be at least 2 with a diagonal structure", chains);
  }
  if (c.retained_draws % chains != 0 || c.retained_draws / chains > SharedDraws::kMostGroups) {
    return invalid(
        "retained_draws must be a multiple of sampler.chains with a diagonal structure, and at "
        "most 64 times that",
        c.retained_draws);
  }
  return true;
}

}  // namespace

Result<bool> check_structure(const EngineConfig& c) noexcept {
  if (c.structure == Structure::kDiagonal) return check_diagonal(c);
  if (structure_of(c) == Structure::kFull && c.model.features > kMostFullFeatures) {
    return invalid(
        "model.features must be 1 to 65536, or to 16777216 with a diagonal structure: for sparse "
        "rows with a window of a logistic, linear, log-normal or student-t model",
        c.model.features);
  }
  return true;
}

Structure structure_of(const EngineConfig& c) noexcept {
  if (c.structure != Structure::kChosen) return c.structure;
  const bool many = c.model.features > kMostFullColumns;
  return many && check_diagonal(c).ok() ? Structure::kDiagonal : Structure::kFull;
}

Horizon chosen_horizon(EngineConfig config) noexcept {
  const ModelEntry* const model = find_model(config.model.name);
  if (model == nullptr || model->network) return Horizon::kWindow;
  config.horizon = Horizon::kWindow;
  if (structure_of(config) == Structure::kFull) return Horizon::kAdaptive;
  config.horizon = Horizon::kAdaptive;
  return check_diagonal(config).ok() ? Horizon::kAdaptive : Horizon::kWindow;
}

}  // namespace windhover
