// What predictions are averaged over.
#include <algorithm>
#include <cmath>

#include "windhover/platform/random.h"
#include "windhover/runtime/learning/memory_choice.h"
#include "windhover/samplers/linear_algebra/linear_algebra.h"

namespace windhover {

namespace {

// Fills in a normal number for each draw of the posterior, the same ones every time, of mean 0 and
// variance 1 exactly.
void fill_standard_normals(std::uint64_t seed, std::uint64_t memory, VectorMap numbers) noexcept {
  fill_normals(seed, {memory, 0, Purpose::kMemory},
               {numbers.data(), static_cast<std::size_t>(numbers.size())});
  numbers.array() -= numbers.mean();
  numbers *= std::sqrt(static_cast<double>(numbers.size()) / numbers.squaredNorm());
}

}  // namespace

double MemoryChoice::add_levels(const Numbers& believed, MemoryAverage& average) noexcept {
  const Eigen::Index d = dimension_;
  const AnchorSums& rows = estimator_.done();
  // u u^T is the part of the average P that goes with the level; `open` is what is left.
  VectorMap u(scratch_.step, d);
  u.setZero();
  double open = 0;
  double weight = 0;
  for (std::uint32_t i = count_ - levels_; i < count_; ++i) {
    if (believed[i] == 0) continue;
    const FilteredPosterior& of = *posteriors_[i];
    u += believed[i] * ConstMatrixMap(of.covariance(), d, d).col(d - 1);
    open += believed[i] * of.spread(rows);
    weight += believed[i];
  }
  const double own = weight > 0 ? posteriors_[estimated_]->spread(rows) : 0.0;
  if (!(u[d - 1] > 0 && own > 0)) return 1;
  u /= std::sqrt(u[d - 1]);
  for (std::uint32_t j = 0; j < dimension_; ++j) {
    const double* below = rows.curvature_below(j);
    open -= u[j] * u[j] * below[0];
    for (std::uint32_t i = 1; i < dimension_ - j; ++i) open -= 2 * u[j] * u[j + i] * below[i];
  }
  // A memory has overflowed.
  if (!std::isfinite(open / own)) return 1;
  const MemoryAverage::Column column = average.add();
  VectorMap(column.direction, d) = u;
  std::copy_n(normals_ + std::size_t{count_} * draws_, draws_, column.normals);
  return 1 - weight + std::max(open, 0.0) / own;
}

void MemoryChoice::begin_origins(const Numbers& believed) noexcept {
  const Eigen::Index d = dimension_;
  const ConstVectorMap mean(estimator_.laplace().mean(), d);
  const auto centre = [&](std::uint32_t i) { return ConstVectorMap(posteriors_[i]->centre(), d); };
  MatrixMap covariance(scratch_.precision, d, d);
  VectorMap at_filter(scratch_.step, d);
  VectorMap at_posterior(scratch_.moved, d);
  VectorMap apart(scratch_.gradient, d);
  at_filter.setZero();
  for (std::uint32_t i = 0; i < count_; ++i) {
    if (believed[i] > 0) at_filter += believed[i] * centre(i);
  }
  at_posterior = at_filter + mean - centre(estimated_);
  covariance = ConstMatrixMap(estimator_.laplace().covariance(), d, d);
  for (std::uint32_t i = 0; i < count_; ++i) {
    if (believed[i] == 0) continue;
    apart = centre(i) - at_filter;
    covariance.noalias() += (believed[i] * apart) * apart.transpose();
  }
}

void MemoryChoice::compare_origins(const RowBatch& batch, Model& model) noexcept {
  const FilteredPosterior& own = *posteriors_[estimated_];
  model.set_dispersion(own.dispersion());
  std::array<double, MemoryWeights::kMost> losses{};
  std::array<double, FilteredPosterior::kMostRows> of_rows;
  std::size_t k = 0;
  for (const double* centre : {scratch_.moved, scratch_.step}) {
    model.predictive_losses(batch, {centre, scratch_.precision, own.divisor()}, of_rows.data());
    for (std::size_t i = 0; i < batch.count; ++i) losses[k] += of_rows[i];
    losses[k++] *= estimator_.done().weight_ratio();
  }
  origins_.add(losses, batch.count);
}

void MemoryChoice::add_origins(Posterior& posterior) noexcept {
  const Eigen::Index d = dimension_;
  VectorMap apart(scratch_.gradient, d);
  apart = ConstVectorMap(posterior.mean, d) - ConstVectorMap(posteriors_[estimated_]->centre(), d);
  // Where that memory has overflowed, or little speaks for its filter, the posterior is the origin.
  const double share = origins_.served({true, true})[0];  // of the posterior
  if (share > 0.5 || !apart.allFinite()) return;
  VectorMap(posterior.average.shift(), d) -= (1 - share) * apart;
  const MemoryAverage::Column column = posterior.average.add();
  VectorMap(column.direction, d) = std::sqrt(share * (1 - share)) * apart;
  std::copy_n(normals_ + std::size_t{count_} * draws_, draws_, column.normals);
}

void MemoryChoice::fill_normals() noexcept {
  for (std::uint32_t i = 0; i < columns_; ++i) {
    fill_standard_normals(seed_, i, VectorMap(normals_ + std::size_t{i} * draws_, draws_));
  }
}

void MemoryChoice::average(const Model& model, Posterior& posterior) noexcept {
  if (!running_) return;
  posterior.noise = noise();
  const Eigen::Index d = dimension_;
  const ConstVectorMap served(posterior.mean, d);
  const auto filtered = [&](std::uint32_t i) {
    return ConstVectorMap(posteriors_[i]->centre(), d);
  };
  VectorMap origin(scratch_.step, d);
  origin = model.quadratic() ? served : filtered(estimated_);
  // Finds how far a filter's centre is from where the posterior is.
  const auto find = [&](std::uint32_t i, VectorMap move) {
    move = filtered(i) - origin;
    if (i == estimated_) move.setZero();
  };
  const Numbers believed = weights();
  VectorMap move(scratch_.gradient, d);
  VectorMap mean(scratch_.moved, d);
  mean.setZero();
  for (std::uint32_t i = 0; i < count_; ++i) {
    if (believed[i] == 0) continue;
    find(i, move);
    mean += believed[i] * move;
  }
  // Where a memory has overflowed the posterior stands for itself.
  if (!mean.allFinite()) return;
  VectorMap(posterior.average.shift(), d) = mean;
  for (std::uint32_t i = 0; i < count_; ++i) {
    if (believed[i] == 0) continue;
    const MemoryAverage::Column column = posterior.average.add();
    find(i, move);
    VectorMap(column.direction, d) = std::sqrt(believed[i]) * (move - mean);
    std::copy_n(normals_ + std::size_t{i} * draws_, draws_, column.normals);
  }
  if (!normal()) add_origins(posterior);
  posterior.average.set_own(add_levels(believed, posterior.average));
}

}  // namespace windhover
