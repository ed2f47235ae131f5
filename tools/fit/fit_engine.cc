#include "windhover/tools/fit/fit_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "windhover/samplers/registry.h"
#include "windhover/tools/error.h"
#include "windhover/tools/fit/whole_file.h"

namespace windhover {
namespace {

std::uint32_t classes_of(const FitOptions& options, const Schema& schema, const Dataset& data) {
  if (find_model(options.model)->response != Response::kCategorical) return ModelConfig().classes;
  // Where the schema says nothing of classes, the rows show how many there are.
  std::uint32_t shown = schema.target_rule().class_count();
  if (shown == 0) {
    const double largest = *std::max_element(data.targets.begin(), data.targets.end());
    if (!(largest >= 0 && largest < kMaxClasses)) {
      throw UserError(fmt::format("{}: the target {} goes up to {}; classes are numbered 0 to {}",
                                  options.path, data.target_name, largest, kMaxClasses - 1));
    }
    shown = std::max(2U, static_cast<std::uint32_t>(largest) + 1);
  }
  if (options.classes != 0 && options.classes < shown) {
    throw UserError(fmt::format("--classes {} is refused: the target {} has {} of them",
                                options.classes, data.target_name, shown));
  }
  return options.classes != 0 ? options.classes : shown;
}

}  // namespace

std::vector<std::uint32_t> prior_groups_of(const FitOptions& options, const Dataset& data) {
  std::vector<std::uint32_t> groups(options.prior_group_a_feature ? data.columns() : 0);
  std::iota(groups.begin(), groups.end(), 0U);
  return groups;
}

EngineConfig engine_config(const FitOptions& options, const Schema& schema, const Dataset& data,
                           const FileUnits& units, std::optional<double> noise_variance,
                           const std::vector<std::uint32_t>& prior_groups) {
  EngineConfig config;
  config.model.name = options.model;
  config.model.features = static_cast<std::uint32_t>(data.columns());
  config.model.offset = schema.has_offset();
  config.model.weight = schema.has_weight();
  config.model.intercept = options.intercept;
  config.model.prior_precision = options.prior_precision;
  config.model.learn_prior_precision = options.learn_prior_precision;
  config.model.prior_groups = prior_groups;
  config.model.intercept_precision = options.intercept_precision;
  config.model.noise_variance = noise_variance.value_or(0.0);
  config.model.degrees_of_freedom = options.degrees_of_freedom;
  config.model.classes = classes_of(options, schema, data);
  config.model.hidden = options.hidden;
  config.model.hidden2 = options.hidden2;
  config.model.activation = options.activation;
  config.sampler = options.sampler_config;
  config.sampler.name = options.sampler;
  config.structure = Structure::kFull;  // the whole covariance is compared and printed
  config.horizon = options.horizon.horizon;
  config.surprising_rows = options.horizon.surprising_rows;
  config.single_pass_noise = options.horizon.single_pass_noise;
  config.forgetting_spread = options.horizon.forgetting_spread;
  config.window_size = options.horizon.window_size > 0 ? options.horizon.window_size : data.rows();
  expect_all(config, data);
  config.standardize = units.of_features ? Standardize::kGiven : Standardize::kOff;
  config.feature_shift = units.shift;
  config.feature_scale = units.scale;
  config.standardize_target = Standardize::kOff;
  if (has_target_units(find_model(options.model)->response)) {
    config.standardize_target = Standardize::kGiven;
    config.target_shift = units.target.shift;
    config.target_scale = units.target.scale;
  }
  config.max_query_rows = 1;
  config.seed = options.seed;
  return config;
}

}  // namespace windhover
