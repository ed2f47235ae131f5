#include "windhover/runtime/prediction/predict.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "windhover/runtime/prediction/prediction_kernels.h"
#include "windhover/runtime/prediction/sample_summary.h"
#include "windhover/samplers/kernels/kernels.h"
#include "windhover/samplers/registry.h"

namespace windhover {

namespace {

// Clears all of an earlier answer, which had filled in its first `classes` classes.
void clear(PredictiveSummary& s) noexcept {
  static_assert(std::is_trivially_copyable_v<PredictiveSummary>);
  const std::size_t classes = std::min<std::size_t>(s.classes, kMaxClasses);
  for (auto* list : {&s.probs, &s.probs_sd, &s.probs_eti_lower, &s.probs_eti_upper}) {
    std::fill_n(list->begin(), classes, 0.0);
  }
  static constexpr PredictiveSummary kEmpty;
  std::memcpy(static_cast<void*>(&s), &kEmpty, offsetof(PredictiveSummary, probs));
}

bool has_one_linear_predictor(const ModelConfig& config) noexcept {
  const ModelEntry& model = *find_model(config.name);
  return !model.network && model.response != Response::kCategorical;
}

// Adds a group's draws of one parameter times x: kChains of them, or if that is 0 `chains`.
template <std::uint32_t kChains>
void add_group(const float* numbers, std::uint32_t chains, double x, double* values) noexcept {
  const std::uint32_t count = kChains > 0 ? kChains : chains;
  for (std::uint32_t c = 0; c < count; ++c) values[c] += x * double{numbers[c]};
}

// Adds all draws of one parameter times x.
void add_draws(const SharedDraws& draws, std::uint32_t parameter, double x, double prior_sd,
               double* values) noexcept {
  PriorNormals normals(draws.seed, parameter);
  for (std::uint32_t g = 0; g < draws.count; ++g) {
    const float* numbers = draws.group(parameter, g);
    const std::uint32_t first = g * draws.chains;
    if (std::isnan(*numbers)) {
      for (std::uint32_t c = 0; c < draws.chains; ++c) {
        values[first + c] += x * (prior_sd * normals.at(first + c));
      }
    } else if (draws.chains == kDefaultChains) {
      add_group<kDefaultChains>(numbers, draws.chains, x, values + first);
    } else {
      add_group<0>(numbers, draws.chains, x, values + first);
    }
  }
}

}  // namespace

Predictor::Predictor(Arena& arena, const EngineConfig& config) noexcept
    : model_(config.model),
      network_(find_model(model_.name)->network),
      draws_(config.retained_draws),
      class_probabilities_(arena, config.model),
      network_predictor_(arena, config),
      outcome_(config.model),
      comparison_(arena, config),
      noise_of_rows_(find_model(model_.name)->response == Response::kHeteroscedastic),
      block_(std::min<std::size_t>(kBlock, config.max_query_rows)),
      stride_(config.structure == Structure::kDiagonal
                  ? 0
                  : InverseFactor::stride_for((noise_of_rows_ ? 2 : 1) * config.model.columns())),
      x_(arena.allocate<double>(block_ * stride_).data()),
      pull_(arena.allocate<double>(stride_).data()),
      whitened_(arena.allocate<double>(block_ * stride_).data()),
      noises_(arena.allocate<OutcomePredictor::Noise>(noise_of_rows_ ? block_ : 0)),
      missing_(config.missing_features),
      given_numbers_(given_numbers(config)) {
  if (config.labels.pending > 0 && config.score_predictions) {
    given_ = arena.allocate<double>(config.max_query_rows * given_numbers_);
  }
}

void Predictor::load_row(const PredictRequest& r, std::size_t row, const Posterior& p,
                         double* x) noexcept {
  const std::uint32_t features = model_.features;
  const double* shift = p.transform.shift.data();
  const double* inverse_scale = p.transform.inverse_scale.data();
  if (model_.max_nonzeros == 0) {
    const double* raw = r.features.data() + row * features;
    if (missing_.any()) {
      std::copy_n(raw, features, x);
      missing_.fill(x);
      raw = x;
    }
    for (std::uint32_t j = 0; j < features; ++j) x[j] = (raw[j] - shift[j]) * inverse_scale[j];
  } else {
    std::fill_n(x, features, 0.0);
    const std::uint32_t begin = row == 0 ? 0 : r.row_ends[row - 1];
    for (std::uint32_t k = begin; k < r.row_ends[row]; ++k) {
      x[r.indices[k]] = r.features[k] * inverse_scale[r.indices[k]];
    }
  }
  if (model_.intercept) x[features] = 1.0;
}

// Works out what the rows of a request share.
void Predictor::begin(const Posterior& p, Response response, std::uint64_t seed,
                      const PredictRequest& r, const ConformalBounds& conformal) noexcept {
  // What is served as wider has conformal intervals of its own.
  const bool own = p.provenance.robust_spread && wants_posterior_spread(r);
  outcome_.ask(r, own ? ConformalBounds{} : conformal);
  outcome_.set_noise(response, {p.dispersion, p.dispersion_relative_sd}, p.noise);
  if (response == Response::kCategorical && !network_) class_probabilities_.begin(seed);
  comparison_.begin(seed, r);
}

void Predictor::rows(const Posterior& p, Response response, const PredictRequest& request,
                     std::size_t first, std::size_t count,
                     std::span<PredictiveSummary> summaries) noexcept {
  for (const std::size_t end = first + count; first < end; first += count) {
    count = std::min(block_, end - first);
    if (p.shared.any()) {
      for (std::size_t row = first; row < first + count; ++row) {
        predict_shared(p, response, request, row, summaries[row]);
      }
      continue;
    }
    for (std::size_t i = 0; i < count; ++i) load_row(request, first + i, p, x_ + i * stride_);
    if (!network_ && response != Response::kCategorical) {
      predict_linear(p, response, request, first, count, summaries);
      continue;
    }
    for (std::size_t row = first; row < first + count; ++row) {
      PredictiveSummary& s = summaries[row];
      clear(s);
      const double* x = x_ + (row - first) * stride_;
      const double* outcome = request.outcomes.empty() ? nullptr : &request.outcomes[row];
      if (network_) {
        network_predictor_.predict(p, x, request, outcome_.conformal(), outcome,
                                   comparison_.predictors(row), s);
      } else {
        class_probabilities_.predict(p, x, request, outcome, s);
      }
      outcome_.fill_class_set(response, s);
      finish(response, request, row, s);
    }
  }
}

void Predictor::end(Response response, const PredictRequest& request,
                    std::span<PredictiveSummary> summaries) noexcept {
  if (request.rows > 1 && response != Response::kCategorical) comparison_.end(request, summaries);
}

// Finishes a row that has been answered.
void Predictor::finish(Response response, const PredictRequest& request, std::size_t row,
                       PredictiveSummary& s) noexcept {
  if (!request.keys.empty()) note_given(response, row, s);
  if (response != Response::kCategorical) comparison_.add(response, outcome_, request, row, s);
}

std::size_t Predictor::directions(const EngineConfig& config, std::uint32_t memories) noexcept {
  if (!has_one_linear_predictor(config.model) || config.structure == Structure::kDiagonal) return 0;
  return std::size_t{config.model.dimension()} + memories;
}

void Predictor::direction(const Posterior& p, std::span<double> out) const noexcept {
  const double scale = std::sqrt(p.average.own() * p.variance_scale());
  for (std::uint32_t i = 0; i < p.dimension; ++i) out[i] = scale * whitened_[i];
  p.average.along_all(x_, out.data() + p.dimension);
}

double Predictor::unknown_share(Response response, const PredictiveSummary& s) const noexcept {
  double unknown = s.var_epistemic;
  double all = s.var_epistemic + s.var_aleatoric;
  if (is_number(response)) {
    unknown = s.linpred_sd * s.linpred_sd;
    all = unknown + outcome_.usual_variance();
  }
  for (std::uint32_t c = 0; c < s.classes; ++c) {
    unknown += s.probs_sd[c] * s.probs_sd[c];
    all += s.probs[c] * (1 - s.probs[c]);
  }
  double share = unknown / all;
  // A log-variance that is off by 1 takes a normal score of 1 to some 0.6 or 1.6.
  if (noise_of_rows_) share += 0.5 * outcome_.noise().relative_sd * outcome_.noise().relative_sd;
  return share >= 0 ? std::min(share, 1.0) : 1.0;
}

// The rows' log-variances are normal, too; their parameters come before those of the mean.
void Predictor::find_noise(const Posterior& p, const PredictRequest& request,
                           std::size_t count) noexcept {
  constexpr double kMostLog = 690;
  const std::size_t columns = model_.columns();
  const PredictionKernels& kernel = prediction_kernels();
  for (std::size_t i = 0; i < count; ++i) {
    std::fill_n(x_ + i * stride_ + columns, columns, 0.0);
  }
  whiten(p, request, count);
  const double scale = p.temperature / p.n;
  for (std::size_t i = 0; i < count; ++i) {
    double* x = x_ + i * stride_;
    const double* whitened = whitened_ + i * stride_;
    const double mean = kernel.dot(x, p.mean, columns) + p.average.mean(x);
    const double variance =
        scale * kernel.dot(whitened, whitened, p.dimension) + p.average.variance(x);
    noises_[i] = {std::exp(std::clamp(mean + 0.5 * variance, -kMostLog, kMostLog)),
                  std::sqrt(std::min(variance, kMostLog))};
    std::copy_n(x, columns, x + columns);
    std::fill_n(x, columns, 0.0);
  }
}

void Predictor::whiten(const Posterior& p, const PredictRequest& request,
                       std::size_t count) noexcept {
  p.inverse_factor.whiten(x_, count, whitened_);
  if (!is_wider(p.provenance, request)) return;
  for (std::size_t i = 0; i < count; ++i) {
    p.robust_spread.widen(p.inverse_factor, x_ + i * stride_, whitened_ + i * stride_, pull_);
  }
}

// Predicts the rows of one block, whose x are loaded.
void Predictor::predict_linear(const Posterior& p, Response response, const PredictRequest& request,
                               std::size_t first, std::size_t count,
                               std::span<PredictiveSummary> summaries) noexcept {
  const PredictionKernels& kernel = prediction_kernels();
  if (noise_of_rows_) find_noise(p, request, count);
  whiten(p, request, count);
  if (request.rows > 1 || request.thompson_id != 0) {
    double* predictors = comparison_.predictors(first);
    std::fill_n(predictors, count * draws_, 0.0);
    kernels().multiply_add(x_, stride_, 1, p.deviations, draws_, predictors, draws_, count, draws_,
                           p.dimension);
    for (std::size_t i = 0; i < count; ++i) {
      p.average.add_draws(x_ + i * stride_, predictors + i * draws_);
    }
  }
  const double scale = std::sqrt(p.variance_scale());
  for (std::size_t row = first; row < first + count; ++row) {
    PredictiveSummary& s = summaries[row];
    clear(s);
    const double* x = x_ + (row - first) * stride_;
    const double* whitened = whitened_ + (row - first) * stride_;
    s.linpred_mean = kernel.dot(x, p.mean, p.dimension) + p.average.mean(x);
    if (!request.offsets.empty()) s.linpred_mean += request.offsets[row];
    s.linpred_sd =
        p.average.wider(std::sqrt(kernel.dot(whitened, whitened, p.dimension)) * scale, x);
    if (noise_of_rows_) outcome_.set_noise(response, noises_[row - first], {});
    outcome_.predict(response, request, row, s);
    finish(response, request, row, s);
  }
}

// Predicts one sparse row by the draws alone: mean and spread of the linear predictor are theirs.
// The noise of the chains sums to 0, but not their lag behind the rows, so their mean is taken to
// be off by as much as that of as many independent draws.
void Predictor::predict_shared(const Posterior& p, Response response, const PredictRequest& request,
                               std::size_t row, PredictiveSummary& s) noexcept {
  clear(s);
  double* values = comparison_.predictors(row);
  const SharedDraws& draws = p.shared;
  const auto add = [&](std::uint32_t column, double x, double prior_precision) {
    add_draws(draws, column, x, 1 / std::sqrt(prior_precision), values);
  };
  std::fill_n(values, draws_, 0.0);
  const std::uint32_t begin = row == 0 ? 0 : request.row_ends[row - 1];
  const std::uint32_t end = request.row_ends[row];
  for (std::uint32_t k = begin; k < end; ++k) draws.prefetch(request.indices[k]);
  if (model_.intercept) add(model_.features, 1.0, p.intercept_precision);
  for (std::uint32_t k = begin; k < end; ++k) {
    add(request.indices[k], request.features[k], p.prior_precision);
  }
  const SampleMoments moments = sample_moments(values, draws_);
  for (std::uint32_t m = 0; m < draws_; ++m) values[m] -= moments.mean;
  s.linpred_mean = moments.mean;
  if (!request.offsets.empty()) s.linpred_mean += request.offsets[row];
  s.linpred_sd = std::sqrt(moments.variance * (1 + 1.0 / draws.chains));
  outcome_.predict(response, request, row, s);
  finish(response, request, row, s);
}

}  // namespace windhover
