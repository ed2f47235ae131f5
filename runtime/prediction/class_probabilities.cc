#include "windhover/runtime/prediction/class_probabilities.h"

#include <algorithm>
#include <cmath>

#include "windhover/platform/random.h"
#include "windhover/runtime/prediction/sample_summary.h"
#include "windhover/samplers/linear_algebra/linear_algebra.h"
#include "windhover/samplers/registry.h"

namespace windhover {

using Eigen::Index;

namespace {

constexpr std::size_t kPairs = ClassProbabilities::kDraws / 2;

std::uint32_t classes_of(const ModelConfig& model) noexcept {
  const ModelEntry* entry = find_model(model.name);
  return entry->response == Response::kCategorical && !entry->network ? model.classes : 0;
}

}  // namespace

ClassProbabilities::ClassProbabilities(Arena& arena, const ModelConfig& model) noexcept
    : classes_(classes_of(model)),
      outputs_(classes_ == 0 ? 0 : classes_ - 1),
      columns_(model.columns()),
      dimension_(outputs_ * columns_),
      normals_(arena.allocate<double>(kPairs * outputs_).data()),
      stride_(InverseFactor::stride_for(dimension_)),
      rows_(arena.allocate<double>(stride_ * outputs_).data()),
      whitened_(arena.allocate<double>(stride_ * outputs_).data()),
      pull_(arena.allocate<double>(dimension_).data()),
      centre_(arena.allocate<double>(outputs_).data()),
      root_(arena.allocate<double>(std::size_t{outputs_} * outputs_).data()),
      eta_(arena.allocate<double>(2 * std::size_t{outputs_}).data()),
      probs_(arena.allocate<double>(kDraws * classes_).data()) {}

void ClassProbabilities::begin(std::uint64_t seed) noexcept {
  fill_normals(seed, {0, 0, Purpose::kPredictive}, {normals_, kPairs * outputs_});
  // Makes the columns orthogonal and of length sqrt(kPairs), by Gram and Schmidt.
  for (std::uint32_t a = 0; a < outputs_; ++a) {
    VectorMap column(normals_ + a * kPairs, kPairs);
    for (std::uint32_t b = 0; b < a; ++b) {
      const ConstVectorMap before(normals_ + b * kPairs, kPairs);
      const double overlap = column.dot(before) / static_cast<double>(kPairs);
      column.noalias() -= overlap * before;
    }
    column *= std::sqrt(static_cast<double>(kPairs)) / column.norm();
  }
}

// Works out the mean of the linear predictors at x, and a root of their covariance.
void ClassProbabilities::colour(const Posterior& posterior, const PredictRequest& request,
                                const double* x) noexcept {
  const double scale = posterior.variance_scale();
  const ConstVectorMap row(x, columns_);
  std::fill_n(rows_, stride_ * outputs_, 0.0);
  for (std::uint32_t a = 0; a < outputs_; ++a) {
    double* of_output = rows_ + a * stride_;
    std::copy_n(x, columns_, of_output + a * columns_);
    centre_[a] = row.dot(ConstVectorMap(posterior.mean + a * columns_, columns_)) +
                 posterior.average.mean(of_output);
  }
  posterior.inverse_factor.whiten(rows_, outputs_, whitened_);
  if (is_wider(posterior.provenance, request)) {
    for (std::uint32_t a = 0; a < outputs_; ++a) {
      posterior.robust_spread.widen(posterior.inverse_factor, rows_ + a * stride_,
                                    whitened_ + a * stride_, pull_);
    }
  }
  MatrixMap root(root_, outputs_, outputs_);
  for (std::uint32_t a = 0; a < outputs_; ++a) {
    for (std::uint32_t b = 0; b <= a; ++b) {
      root(a, b) = ConstVectorMap(whitened_ + a * stride_, dimension_)
                       .dot(ConstVectorMap(whitened_ + b * stride_, dimension_)) *
                   scale;
    }
  }
  posterior.average.add_covariance(x, columns_, outputs_, root_);
  double trace = 0;
  for (std::uint32_t a = 0; a < outputs_; ++a) trace += root(a, a);
  // Without an intercept an x of zeros has no spread at all, and no factor.
  for (std::uint32_t a = 0; a < outputs_; ++a) root(a, a) += 1e-13 * trace + 1e-200;
  if (!ok(cholesky(root_, outputs_, root_))) root.setZero();
}

void ClassProbabilities::predict(const Posterior& posterior, const double* x,
                                 const PredictRequest& request, const double* outcome,
                                 PredictiveSummary& s) noexcept {
  colour(posterior, request, x);
  const ConstMatrixMap root(root_, outputs_, outputs_);
  LogMeanExp likelihood;  // of the outcome
  for (std::size_t pair = 0; pair < kPairs; ++pair) {
    for (std::uint32_t a = 0; a < outputs_; ++a) {
      double step = 0;
      for (std::uint32_t b = 0; b <= a; ++b) step += root(a, b) * normals_[b * kPairs + pair];
      eta_[a] = centre_[a] + step;
      eta_[outputs_ + a] = centre_[a] - step;
    }
    for (std::size_t side = 0; side < 2; ++side) {
      const std::size_t draw = 2 * pair + side;
      const double* eta = eta_ + side * outputs_;
      double largest = 0;  // the reference's predictor
      for (std::uint32_t a = 0; a < outputs_; ++a) largest = std::max(largest, eta[a]);
      double total = 0;
      for (std::uint32_t c = 0; c < classes_; ++c) {
        const double p = std::exp((c == 0 ? 0.0 : eta[c - 1]) - largest);
        probs_[c * kDraws + draw] = p;
        total += p;
      }
      double entropy = 0;
      for (std::uint32_t c = 0; c < classes_; ++c) {
        double& p = probs_[c * kDraws + draw];
        p /= total;
        entropy -= plogp(p);
      }
      s.expected_entropy += entropy / static_cast<double>(kDraws);
      if (outcome != nullptr) {
        const auto y = static_cast<std::uint32_t>(*outcome);
        likelihood.add((y == 0 ? 0.0 : eta[y - 1]) - largest - std::log(total));
      }
    }
  }
  summarize(request, s);
  if (outcome != nullptr) {
    s.log_score = likelihood.value();
    for (std::uint32_t c = 0; c < classes_; ++c) {
      const double error = s.probs[c] - (static_cast<double>(c) == *outcome ? 1.0 : 0.0);
      s.brier += error * error;
    }
  }
}

void ClassProbabilities::summarize(const PredictRequest& r, PredictiveSummary& s) noexcept {
  s.classes = classes_;
  for (std::uint32_t c = 0; c < classes_; ++c) {
    double* p = probs_ + c * kDraws;
    const VectorMap sample(p, kDraws);
    s.probs[c] = sample.mean();
    s.probs_sd[c] = std::sqrt((sample.array() - s.probs[c]).square().mean());
    s.entropy -= plogp(s.probs[c]);
    if (!r.intervals) continue;
    std::sort(p, p + kDraws);
    s.probs_eti_lower[c] = sample_quantile(p, kDraws, 0.5 * (1 - r.interval_probability));
    s.probs_eti_upper[c] = sample_quantile(p, kDraws, 0.5 * (1 + r.interval_probability));
  }
  s.expected_entropy = std::min(s.expected_entropy, s.entropy);
  s.mutual_information = s.entropy - s.expected_entropy;
}

}  // namespace windhover
