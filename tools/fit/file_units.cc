#include "windhover/tools/fit/file_units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "windhover/runtime/learning/units.h"
#include "windhover/samplers/registry.h"
#include "windhover/tools/error.h"

namespace windhover {
namespace {

// Checked before logarithms are taken; the engine refuses other targets that the model does not
// allow.
void check_positive(Response response, const Dataset& data) {
  if (response != Response::kLogNormal) return;
  const auto at = std::ranges::find_if(data.targets, [](double y) { return !(y > 0); });
  if (at == data.targets.end()) return;
  throw UserError(fmt::format(
      "row {} of the file is refused: the target {} is {}, log-normal takes numbers above 0 ({})",
      at - data.targets.begin() + 1, data.target_name, *at, to_string(Status::kTargetOutOfDomain)));
}

// Mean and spread of value(row) over the whole file, each row by its weight.
template <class Value>
Column column_of_file(const Dataset& data, Value&& value) {
  return column_of(0, data.rows(), 1, value,
                   [&](std::size_t i) { return data.weights.empty() ? 1.0 : data.weights[i]; });
}

// Units of y as an engine's cold start finds them, from the whole file.
TargetTransform target_units_of(const EngineConfig& config, const Dataset& data) {
  const Response response = find_model(config.model.name)->response;
  const bool count = is_count(response);
  const auto offset = [&](std::size_t i) { return data.offsets.empty() ? 0.0 : data.offsets[i]; };
  const Column targets = column_of_file(data, [&](std::size_t i) {
    return count ? data.targets[i] : working_target(response, data.targets[i]) - offset(i);
  });
  if (!count) return scanned_target_units(config, targets);
  const Column exposures = column_of_file(data, [&](std::size_t i) { return std::exp(offset(i)); });
  return scanned_target_units(config, targets, exposures.mean());
}

// Products are of numbers in units of their `scale`: one sd of a product is the product of the sds
// in these units.
void set_product_sds(const Schema& schema, std::size_t rule, std::vector<double>& sds) {
  std::vector<double> products = {1.0};
  for (const auto& factor : factors_of(schema.rules(), rule)) {
    std::vector<double> next;
    for (const double product : products) {
      for (const std::size_t r : factor) {
        const FeatureRule& of = schema.rules()[r];
        const bool number = of.kind == FeatureRule::Kind::kNumber;
        const double unit = number ? sds[schema.first_column(r)] / *of.scale : 1.0;
        next.insert(next.end(), value_columns(schema.rules(), r), product * unit);
      }
    }
    products = std::move(next);
  }
  std::ranges::copy(products, sds.begin() + static_cast<std::ptrdiff_t>(schema.first_column(rule)));
}

}  // namespace

std::vector<double> column_sds(const Schema& schema, const Dataset& data) {
  std::vector<double> sds(data.columns(), 1.0);
  for (std::size_t r = 0; r < schema.rules().size(); ++r) {
    if (schema.rules()[r].kind != FeatureRule::Kind::kNumber) continue;
    const std::size_t j = schema.first_column(r);
    const Column column = column_of_file(data, [&](std::size_t i) { return data.row(i)[j]; });
    if (column.varies()) sds[j] = std::sqrt(column.variance());
  }
  for (std::size_t r = 0; r < schema.rules().size(); ++r) {
    if (schema.rules()[r].kind == FeatureRule::Kind::kInteraction) set_product_sds(schema, r, sds);
  }
  return sds;
}

FileUnits file_units(const FitOptions& options, const Schema& schema, const Dataset& data) {
  FileUnits t{std::vector<double>(data.columns(), 0.0), std::vector<double>(data.columns(), 1.0)};
  EngineConfig config;
  config.model.name = options.model;
  config.model.intercept = options.intercept;
  config.model.prior_precision = options.prior_precision;
  config = with_defaults(config);
  if (options.standardize) {
    for (std::size_t r = 0; r < schema.rules().size(); ++r) {
      const FeatureRule& rule = schema.rules()[r];
      if (rule.kind != FeatureRule::Kind::kNumber) continue;
      t.shift[schema.first_column(r)] = *rule.shift;
      t.scale[schema.first_column(r)] = *rule.scale;
    }
  } else if (scans_features(config)) {
    for (std::size_t j = 0; j < data.columns(); ++j) {
      const Column column = column_of_file(data, [&](std::size_t i) { return data.row(i)[j]; });
      const FeatureUnits units = feature_units(config, column);
      t.shift[j] = units.shift;
      t.scale[j] = 1 / units.inverse_scale;
    }
  }
  t.of_features = options.standardize || scans_features(config);
  const Response response = find_model(options.model)->response;
  check_positive(response, data);
  if (schema.target_rule().shift && has_target_units(response)) {
    t.target = {*schema.target_rule().shift, *schema.target_rule().scale};
  } else if (config.standardize_target == Standardize::kColdStart) {
    t.target = target_units_of(config, data);
  }
  return t;
}

}  // namespace windhover
