#include "windhover/tools/fit/fit_reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "windhover/samplers/registry.h"
#include "windhover/tools/data/table.h"
#include "windhover/tools/error.h"

namespace windhover {

std::optional<double> noise_variance_of(const FitOptions& options,
                                        const std::optional<ReferencePosterior>& published) {
  if (!has_dispersion(find_model(options.model)->response) || options.noise_variance == "learn") {
    return std::nullopt;
  }
  if (options.noise_variance == "reference") {
    if (!published) throw UserError("--noise-variance reference needs --reference FILE");
    return published->noise_variance;
  }
  const std::optional<double> value = parse_number(options.noise_variance);
  if (!value || *value <= 0) {
    throw UserError(
        fmt::format("--noise-variance \"{}\" is not allowed: a number greater than 0, \"learn\" or "
                    "\"reference\"",
                    options.noise_variance));
  }
  return value;
}

std::optional<ReferencePosterior> reference_of(const FitOptions& options, const Dataset& data,
                                               const FileUnits& units,
                                               std::optional<double> noise_variance,
                                               std::vector<double> prior_precisions) {
  const bool logarithm = options.model == "log-normal";
  const bool logistic = options.model == "logistic" || options.model == "binomial";
  if (options.model != "linear" && !logistic && !logarithm) return std::nullopt;
  const ModelConfig model = ModelConfig{.name = options.model,
                                        .prior_precision = options.prior_precision,
                                        .intercept_precision = options.intercept_precision}
                                .with_prior();
  return exact_posterior(data,
                         {.logistic = logistic,
                          .logarithm = logarithm,
                          .intercept = options.intercept,
                          .prior_precision = model.prior_precision,
                          .prior_precisions = std::move(prior_precisions),
                          .intercept_precision = model.intercept_precision,
                          .noise_variance = noise_variance,
                          .target_shift = units.target.shift,
                          .target_scale = units.target.scale},
                         units.shift, units.scale);
}

void check_reference(const FitOptions& options, const Dataset& data, const FileUnits& units,
                     const ReferencePosterior& r) {
  const auto fail = [&](const std::string& what) {
    throw UserError(
        fmt::format("{} is not the posterior of this fit: {}", *options.reference, what));
  };
  if (units.target.shift != 0 || units.target.scale != 1) {
    throw UserError(
        "--reference FILE needs the prior it is of: --prior-precision and --intercept-precision");
  }
  const auto dimension = static_cast<Eigen::Index>(data.columns()) + (options.intercept ? 1 : 0);
  if (r.dimension() != dimension) {
    fail(fmt::format("it has {} parameters, the model {}", r.dimension(), dimension));
  }
  if (r.rows != static_cast<double>(data.rows())) {
    fail(fmt::format("it is of {} rows, the file has {}", r.rows, data.rows()));
  }
  for (std::size_t j = 0; j < std::min(data.columns(), r.feature_scale.size()); ++j) {
    const double tolerance = 1e-6 * r.feature_scale[j];
    if (std::abs(units.shift[j] - r.feature_shift[j]) > tolerance ||
        std::abs(units.scale[j] - r.feature_scale[j]) > tolerance) {
      fail(fmt::format("feature {} enters there as (x - {}) / {}, here as (x - {}) / {}",
                       data.names[j], r.feature_shift[j], r.feature_scale[j], units.shift[j],
                       units.scale[j]));
    }
  }
}

}  // namespace windhover
