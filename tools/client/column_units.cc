#include "windhover/tools/client/column_units.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "windhover/runtime/prediction/gaussian_mixture.h"
#include "windhover/tools/client/answers.h"

namespace windhover {

ColumnUnits::ColumnUnits(const Schema& schema, std::size_t blocks, bool intercept)
    : sparse_(schema.sparse()),
      features_(schema.features()),
      blocks_(blocks),
      stride_(features_ + (intercept ? 1 : 0)),
      intercept_(intercept),
      shift_(features_, 0.0),
      scale_(features_, 1.0) {
  for (std::size_t r = 0; r < schema.rules().size(); ++r) {
    const FeatureRule& rule = schema.rules()[r];
    if (rule.kind != FeatureRule::Kind::kNumber) continue;
    const std::size_t column = schema.first_column(r);
    shift_[column] = rule.shift.value_or(0);
    scale_[column] = rule.scale.value_or(1);
    shifted_ = shifted_ || shift_[column] != 0;
  }
}

void ColumnUnits::convert(std::span<double> theta) const {
  for (std::size_t first = 0; first < blocks_ * stride_; first += stride_) {
    for (std::size_t j = 0; j < features_; ++j) {
      theta[first + j] /= scale_[j];
      if (intercept_) theta[first + features_] -= theta[first + j] * shift_[j];
    }
  }
}

bool ColumnUnits::convert(Client& client, std::span<ParameterSummary> summaries,
                          const Provenance& provenance) const {
  std::vector<double> means, modes;
  for (const ParameterSummary& s : summaries) {
    means.push_back(s.mean);
    modes.push_back(s.mode);
  }
  convert(means);
  convert(modes);
  std::vector<double> sds;
  if (intercept_ && shifted_ && !intercept_sds(client, provenance, sds)) return false;
  const double z = normal_quantile(0.95);
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    ParameterSummary& s = summaries[i];
    const std::size_t j = i % stride_;
    if (j < features_) {
      for (double* const number : {&s.sd, &s.sd_robust, &s.mcse_mean}) *number /= scale_[j];
      s.prior_precision *= scale_[j] * scale_[j];
    } else if (shifted_) {
      const double sd = sds[i / stride_];
      s.mcse_mean *= sd / s.sd;
      s.sd = sd;
      s.sd_robust = std::numeric_limits<double>::quiet_NaN();
      // The parameters before it and their priors are converted already.
      double prior_variance = 1 / s.prior_precision;
      for (std::size_t k = 0; k < features_; ++k) {
        prior_variance += shift_[k] * shift_[k] / summaries[i - features_ + k].prior_precision;
      }
      s.prior_precision = 1 / prior_variance;
    }
    s.mean = s.q50 = means[i];
    s.mode = modes[i];
    s.q5 = s.mean - z * s.sd;
    s.q95 = s.mean + z * s.sd;
  }
  return true;
}

// The server answers with the sd of one linear predictor; with several it is estimated from the
// draws.
bool ColumnUnits::intercept_sds(Client& client, const Provenance& provenance,
                                std::vector<double>& sds) const {
  sds.assign(blocks_, 0.0);
  if (blocks_ == 1) return sd_at_zero(client, provenance, sds[0]);
  std::vector<double> draws;
  Provenance of_draws;
  check_reply(client, client.draws(draws, of_draws), "asking for the draws");
  const std::size_t dimension = blocks_ * stride_;
  const std::size_t count = draws.size() / dimension;
  for (std::size_t b = 0; b < blocks_; ++b) {
    double mean = 0, squares = 0;
    for (std::size_t m = 0; m < count; ++m) {
      const std::span<double> theta(draws.data() + m * dimension, dimension);
      if (b == 0) convert(theta);
      const double off = theta[b * stride_ + features_] - mean;
      mean += off / static_cast<double>(m + 1);
      squares += off * (theta[b * stride_ + features_] - mean);
    }
    sds[b] = std::sqrt(squares / (static_cast<double>(count) - 1));
  }
  return of_draws.snapshot_id == provenance.snapshot_id;
}

bool ColumnUnits::sd_at_zero(Client& client, const Provenance& provenance, double& sd) const {
  std::vector<double> values;
  std::vector<std::uint32_t> indices;
  for (std::size_t j = 0; j < features_; ++j) {
    const double value = -shift_[j] / scale_[j];
    if (sparse_ && value == 0) continue;
    values.push_back(value);
    if (sparse_) indices.push_back(static_cast<std::uint32_t>(j));
  }
  const auto end = static_cast<std::uint32_t>(values.size());
  PredictRequest request;
  request.rows = 1;
  request.features = values;
  request.posterior_spread = true;
  if (sparse_) {
    request.indices = indices;
    request.row_ends = {&end, 1};
  }
  std::vector<PredictiveSummary> answers;
  Provenance of_answer;
  check_reply(client, client.predict(request, answers, of_answer), "predicting");
  sd = answers.at(0).linpred_sd;
  return of_answer.snapshot_id == provenance.snapshot_id;
}

}  // namespace windhover
