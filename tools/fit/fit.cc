#include "windhover/tools/fit/fit.h"

#include <fmt/format.h>

#include <chrono>
#include <span>
#include <utility>
#include <vector>

#include "windhover/platform/memory.h"
#include "windhover/runtime/engine.h"
#include "windhover/runtime/learning/learner.h"
#include "windhover/samplers/registry.h"
#include "windhover/tools/client/category_effects.h"
#include "windhover/tools/data/dataset.h"
#include "windhover/tools/error.h"
#include "windhover/tools/evaluate/choose_model.h"
#include "windhover/tools/fit/file_units.h"
#include "windhover/tools/fit/fit_engine.h"
#include "windhover/tools/fit/fit_parameters.h"
#include "windhover/tools/fit/fit_reference.h"
#include "windhover/tools/fit/moments.h"
#include "windhover/tools/fit/reference.h"
#include "windhover/tools/fit/whole_file.h"
#include "windhover/tools/heap/heap_counter.h"

namespace windhover {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using nlohmann::ordered_json;

// An entry for each group of learned prior precisions.
ordered_json prior_precision_of(const FitOptions& options, const Dataset& data,
                                std::span<const double> learned) {
  ordered_json list = ordered_json::array();
  for (std::size_t g = 0; g < learned.size(); ++g) {
    list.push_back({{"group", options.prior_group_a_feature ? data.names[g] : "all"},
                    {"precision", learned[g]}});
  }
  return list;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

ordered_json fit(const FitOptions& given) {
  FitOptions options = given;
  options.data.model = options.model;
  std::optional<Inspection> inspection;
  if (options.schema) {
    options.standardize = true;
  } else {
    // The model is left open unless an option belongs to certain models: a given noise variance or
    // reference to `linear`, other uses of surprising rows to some.
    const bool open = options.noise_variance == "learn" && !options.reference &&
                      options.horizon.surprising_rows == SurprisingRows::kKeep;
    inspection =
        open ? inspect_and_choose(options.path, options.data) : inspect(options.path, options.data);
  }
  const Schema schema = inspection ? inspection->schema : Schema::from_file(*options.schema);
  check_model(schema.target_rule(), options.model, schema.target(), schema.parts().path);
  if (options.model.empty()) options.model = schema.target_rule().default_model();
  if (schema.has_hashes() && schema.features() > kMostFullColumns) {
    throw UserError(
        fmt::format("{} has {} columns, and fit keeps the covariance of all of them, in memory of "
                    "their square: of a schema with hashed features at most {}. `windhover "
                    "evaluate` takes more, and so does a server, with `windhover send`",
                    schema.parts().path, schema.features(), kMostFullColumns));
  }
  const std::vector<CategoryGroup> groups = category_groups(schema, options.against);
  const Dataset data = load_dataset(options.path, schema, false);
  const FileUnits units = file_units(options, schema, data);
  std::optional<ReferencePosterior> published;
  if (options.reference) {
    published = read_reference(*options.reference);
    check_reference(options, data, units, *published);
  }
  const std::optional<double> noise_variance = noise_variance_of(options, published);
  const std::vector<std::uint32_t> prior_groups = prior_groups_of(options, data);
  const EngineConfig config =
      engine_config(options, schema, data, units, noise_variance, prior_groups);
  const std::size_t footprint = value_or_throw(Engine::footprint(config));
  // Whether the posterior is of the whole file, each row counting the same.
  const bool whole_file = config.horizon == Horizon::kAll ||
                          (config.horizon == Horizon::kWindow && config.window_size >= data.rows());
  std::optional<ReferencePosterior> reference = published;
  const bool known_prior = !options.learn_prior_precision;
  if (!reference && whole_file && known_prior) {
    reference = reference_of(options, data, units, noise_variance, {});
  }

  const MappedBlock block(footprint);
  if (!block.valid()) throw RunError(fmt::format("no memory for a block of {} bytes", footprint));
  prefault(block.bytes());
  RealClock clock;
  Engine& engine = *value_or_throw(Engine::create(config, block.bytes(), clock));
  Reader reader = value_or_throw(engine.reader());
  const std::uint32_t dimension = engine.dimension();
  std::vector<ParameterSummary> summaries(dimension);
  Provenance provenance;
  Moments draws(reference ? reference->mode : VectorXd::Zero(dimension));
  const bool window = keeps_window(config.horizon);
  const auto add_draw = [](void* context, std::uint16_t, const double* theta) noexcept {
    static_cast<Moments*>(context)->add(theta);
  };
  if (window) engine.learner().set_trace(add_draw, &draws);

  const std::optional<std::uint64_t> heap_at_start = heap_calls();
  const auto start = std::chrono::steady_clock::now();
  observe_all(engine, data);
  if (window) {
    run_until(engine, options.steps, options.tell);
  } else {
    run_dry(engine);
  }
  const double seconds = seconds_since(start);
  const Status answered = reader.posterior(summaries, provenance);
  const std::optional<std::uint64_t> heap_at_end = heap_calls();
  if (!ok(answered)) throw RunError(fmt::format("no posterior: {}", to_string(answered)));
  // Without a window the chains are draws of the posterior only at the end of the file.
  for (const double* theta = engine.learner().view().chains.data();
       !window &&
       theta != engine.learner().view().chains.data() + engine.learner().view().chains.size();
       theta += dimension) {
    draws.add(theta);
  }

  const Learner& learner = engine.learner();
  if (!reference && whole_file && !known_prior) {
    const double* precisions = learner.view().estimator().prior().values();
    reference = reference_of(options, data, units, noise_variance,
                             {precisions, precisions + data.columns()});
  }
  const auto d = static_cast<Index>(dimension);
  MatrixXd preconditioner(d, d);
  MatrixXd injected(d, d);
  const bool has_law =
      window && find_sampler(options.sampler)->has_law && learner.view().sampler->momentum() == 0;
  if (has_law) learner.view().sampler->law(preconditioner.data(), injected.data());
  const Estimator& estimator = learner.view().estimator();
  const VectorXd mean = Eigen::Map<const VectorXd>(estimator.laplace().mean(), d);
  const MatrixXd covariance =
      MatrixXd(Eigen::Map<const MatrixXd>(estimator.laplace().covariance(), d, d))
          .selfadjointView<Eigen::Lower>();
  const auto examples = static_cast<double>(engine.counters().get(RuntimeCounter::kExamples));

  ordered_json out;
  out["sampler"] = options.sampler;
  out["horizon"] = to_string(config.horizon);
  out["model"] = options.model;
  out["rows"] = data.rows();
  out["skipped_rows"] = data.skipped_rows;
  out["skipped_lines"] = data.skipped_lines;  // the first ones
  out["dimension"] = dimension;
  out["minibatch"] = learner.view().minibatch_size;
  out["chains"] = engine.config().sampler.chains;
  out["seed"] = options.seed;
  out["steps"] = engine.counters().get(RuntimeCounter::kSteps);
  out["steps_counted"] = draws.count();
  out["seconds"] = seconds;
  out["examples_per_second"] = examples / seconds;
  out["kl_draws"] = out["kl_law"] = out["kl_summary"] = nullptr;
  if (reference) {
    out["reference"] = options.reference ? *options.reference : "computed from the file";
    if (draws.count() > 0) {
      out["kl_draws"] =
          gaussian_kl(draws.mean(), draws.covariance(), reference->mode, reference->covariance);
    }
    if (has_law)
      out["kl_law"] =
          stationary_kl(*reference, preconditioner, learner.view().minibatch_size, injected);
    out["kl_summary"] = gaussian_kl(mean, covariance, reference->mode, reference->covariance);
  } else {
    out["reference"] = whole_file ? "none for this model: give --reference FILE"
                                  : "none for a part of the file: give --reference FILE";
  }
  out["ess_min"] = provenance.ess_bulk;
  out["ess_tail_min"] = provenance.ess_tail;
  out["r_hat_max"] = provenance.r_hat;
  out["r_hat_chance"] = provenance.r_hat_chance;
  out["autocorrelation_time_max"] = provenance.autocorrelation_time;
  if (window) out["relaxation_steps"] = learner.view().relaxation;
  out["divergences"] = provenance.divergences;
  out["ou_ratio"] = provenance.ou_ratio;
  out["law_ratio"] = provenance.law_ratio;
  out["misspecification_index"] = provenance.misspecification_index;
  out["prior_conflict"] = provenance.prior_conflict;
  out["score_autocorrelation"] = provenance.score_autocorrelation;
  out["drift_score"] = provenance.drift_score;
  out["repeated_rows"] = provenance.repeated_rows;
  const Response response = find_model(options.model)->response;
  if (has_dispersion(response) || has_shape(response)) {
    out["noise_variance"] = provenance.noise_variance;
    out["noise_variance_sd"] = provenance.noise_variance_sd;
    if (reference && has_dispersion(response))
      out["noise_variance_reference"] = reference->noise_variance;
  }
  if (options.learn_prior_precision) {
    out["prior_precision"] =
        prior_precision_of(options, data, learner.view().estimator().prior().of_groups());
  }
  out["status"] = to_string(provenance.status);
  out["status_reason"] = to_string(provenance.reason);
  if (heap_at_start && heap_at_end) {
    out["allocations_after_start"] = *heap_at_end - *heap_at_start;
  } else {
    out["allocations_after_start"] = nullptr;
  }
  out["footprint_bytes"] = footprint;
  if (inspection) out["file"] = to_json(*inspection);
  const bool whole_window = config.horizon == Horizon::kWindow && config.window_size >= data.rows();
  out["parameters"] =
      parameters_of(data, schema.target_rule().class_names(), column_sds(schema, data),
                    options.intercept, *find_model(options.model), summaries,
                    whole_window ? draw_means(engine, reader, data) : DrawMeans{});
  if (!find_model(options.model)->network) {
    out["category_effects"] =
        category_effects_of(engine, reader, groups, units.shift, out["parameters"]);
  }
  return out;
}

}  // namespace windhover
