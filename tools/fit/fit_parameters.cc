#include "windhover/tools/fit/fit_parameters.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <numeric>

#include "windhover/platform/memory.h"
#include "windhover/runtime/learning/learner.h"
#include "windhover/runtime/learning/units.h"
#include "windhover/samplers/estimates/zero_variance.h"
#include "windhover/samplers/registry.h"
#include "windhover/samplers/sampler.h"
#include "windhover/tools/client/answers.h"
#include "windhover/tools/error.h"

namespace windhover {
namespace {

using nlohmann::ordered_json;

// The rows as the engine's window holds them.
std::vector<double> rows_of(const EngineConfig& config, const Dataset& data) {
  const RowLayout layout(config.model);
  std::vector<double> rows(data.rows() * layout.stride());
  for (std::size_t i = 0; i < data.rows(); ++i) {
    double* row = rows.data() + i * layout.stride();
    std::copy_n(data.row(i), data.columns(), row);
    row[layout.target_index()] = data.targets[i];
    if (layout.has_offset()) row[layout.offset_index()] = data.offsets[i];
    if (layout.has_trials()) row[layout.trials_index()] = data.trials[i];
    // Weights that the learner gives to surprising rows are left out.
    if (layout.has_weight())
      row[layout.weight_index()] = data.weights.empty() ? 1 : data.weights[i];
  }
  return rows;
}

// Gives the model the units of the engine, which fit() chose.
void set_units(const EngineConfig& config, Model& model) {
  model.target() = given_target_units(config);
  if (config.standardize != Standardize::kGiven) return;
  std::ranges::copy(config.feature_shift, model.transform().shift.begin());
  std::ranges::transform(config.feature_scale, model.transform().inverse_scale.begin(),
                         [](double scale) { return 1 / scale; });
}

// The gradients of the mean loss over all rows at each draw, one after the other, in the model's
// own units: control variates may be any linear function of them.
std::vector<double> gradients_at(Engine& engine, const Dataset& data,
                                 const std::vector<double>& draws) {
  const EngineConfig& config = engine.config();
  const ModelEntry& entry = *find_model(config.model.name);
  Arena measuring = Arena::measuring();
  entry.make(measuring, config.model);
  const MappedBlock block(measuring.used() + Arena::kAlignment);
  if (!block.valid()) throw RunError("no memory for a model");
  Arena arena(block.bytes());
  Model* model = entry.make(arena, config.model);
  entry.reset(*model);
  set_units(config, *model);
  const Estimator& estimator = engine.learner().view().estimator();
  GradientSource gradient(model, engine.dimension(), estimator.prior().values());
  gradient.set_scale(static_cast<double>(data.rows()), estimator.dispersion().value());
  const std::vector<double> rows = rows_of(config, data);
  std::vector<std::uint32_t> slots(data.rows());
  std::iota(slots.begin(), slots.end(), 0U);
  gradient.set_minibatch({rows.data(), slots.data(), slots.size()});
  std::vector<double> gradients(draws.size());
  const ParameterLayout layout = entry.layout(config.model);
  std::vector<double> theta(engine.dimension());
  for (std::size_t at = 0; at < draws.size(); at += engine.dimension()) {
    to_model_units(layout, model->transform(), model->target(), draws.data() + at, theta.data());
    gradient(theta.data(), gradients.data() + at);
  }
  return gradients;
}

}  // namespace

DrawMeans draw_means(Engine& engine, Reader& reader, const Dataset& data) {
  const std::size_t d = engine.dimension();
  const std::size_t count = engine.config().retained_draws;
  std::vector<double> draws(count * d);
  Provenance provenance;
  if (!ok(reader.draws(0, 0, count, draws, provenance))) return {};
  reader.release();
  const Eigen::Map<const Eigen::MatrixXd> columns(draws.data(), static_cast<Eigen::Index>(d),
                                                  static_cast<Eigen::Index>(count));
  const Eigen::VectorXd mean = columns.rowwise().mean();
  DrawMeans means{{mean.begin(), mean.end()}, {}};
  if (count < 2 * d || find_model(engine.config().model.name)->network) return means;
  const std::vector<double> gradients = gradients_at(engine, data, draws);
  Arena measuring = Arena::measuring();
  const ZeroVariance unused(measuring, engine.dimension());
  const MappedBlock block(measuring.used() + Arena::kAlignment);
  if (!block.valid()) throw RunError("no memory for control variates");
  Arena arena(block.bytes());
  ZeroVariance average(arena, engine.dimension());
  for (std::size_t j = 0; j < d; ++j) {
    average.reset();
    for (std::size_t at = 0; at < draws.size(); at += d) {
      average.add(draws[at + j], gradients.data() + at);
    }
    if (!ok(average.solve())) return {means.plain, {}};
    means.zero_variance.push_back(average.corrected());
  }
  return means;
}

ordered_json parameters_of(const Dataset& data, const std::vector<std::string>& classes,
                           const std::vector<double>& sds, bool intercept, const ModelEntry& model,
                           std::span<const ParameterSummary> summaries, const DrawMeans& means) {
  ordered_json list = ordered_json::array();
  const auto entry = [](const std::vector<double>& values, std::size_t i) {
    return i < values.size() ? ordered_json(values[i]) : ordered_json(nullptr);
  };
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    const std::size_t columns = data.columns() + (intercept ? 1 : 0);
    const std::size_t column = i % columns;
    std::string name = column == data.columns() ? "intercept" : data.names[column];
    if (model.response == Response::kHeteroscedastic) {
      if (i < columns) name = "log variance: " + name;
    } else if (summaries.size() > columns) {
      const std::size_t c = i / columns + 1;
      name = fmt::format("{}: {}", c < classes.size() ? classes[c] : fmt::to_string(c), name);
    }
    if (model.network) name = fmt::format("theta{}", i);
    ordered_json parameter = {{"name", name}};
    parameter.update(to_json(summaries[i]));
    parameter["column_sd"] = model.network ? ordered_json(1.0) : entry(sds, column);
    parameter["mean_draws"] = entry(means.plain, i);
    parameter["mean_zero_variance"] = entry(means.zero_variance, i);
    list.push_back(std::move(parameter));
  }
  return list;
}

ordered_json category_effects_of(Engine& engine, Reader& reader,
                                 const std::vector<CategoryGroup>& groups,
                                 const std::vector<double>& base, const ordered_json& parameters) {
  std::vector<std::string> names;
  std::vector<double> means;
  for (const ordered_json& parameter : parameters) {
    names.push_back(parameter["name"]);
    means.push_back(parameter["mean"]);
  }
  Provenance provenance;
  const auto check = [](Status status) {
    if (!ok(status)) throw RunError(fmt::format("no effects: {}", to_string(status)));
  };
  const std::size_t stride = base.size() + (engine.config().model.intercept ? 1 : 0);
  if (means.size() == stride) {
    constexpr std::size_t kRows = 3;  // the fewest rows
    const auto ask = [&](std::span<const double> rows) {
      std::vector<PredictiveSummary> answers(rows.size() / base.size());
      for (std::size_t i = 0; i < answers.size(); ++i) {
        PredictRequest request;
        request.rows = 1;
        request.features = rows.subspan(i * base.size(), base.size());
        request.posterior_spread = true;
        check(reader.predict(request, std::span(answers).subspan(i, 1), provenance));
      }
      return answers;
    };
    return to_json(groups, exact_category_effects(groups, base, kRows, ask), names, 0);
  }
  const std::uint32_t count = engine.config().retained_draws;
  std::vector<double> draws(count * means.size());
  check(reader.draws(0, 0, count, draws, provenance));
  reader.release();
  return to_json(groups, drawn_category_effects(groups, stride, means, draws), names, count);
}

}  // namespace windhover
