// What row blocks hold: where it lies, how it begins, and what a checkpoint has of it.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "windhover/samplers/row_blocks/normal_source.h"
#include "windhover/samplers/row_blocks/row_block_langevin.h"

namespace windhover {

namespace {

// Normals are made so many at a time, or as many as a row wants.
constexpr std::size_t kNormals = 1024;

// Of the linear predictors under the prior that a learned precision begins with.
constexpr double kPredictorVariance = 2.5 * 2.5;

}  // namespace

RowBlockLangevin::RowBlockLangevin(Arena& arena, const ModelConfig& model, std::uint32_t chains,
                                   std::uint64_t slots, std::uint64_t seed,
                                   std::uint64_t past) noexcept
    : layout_(model),
      likelihood_(model),
      has_intercept_(model.intercept),
      learns_precision_(model.learn_prior_precision),
      given_precision_(model.prior_precision),
      given_noise_(model.noise_variance),
      intercept_precision_(model.intercept_precision),
      least_precision_(model.prior_precision_min),
      most_precision_(model.prior_precision_max),
      columns_(model.columns()),
      chains_(chains),
      slots_(slots),
      seed_(seed),
      chains_of_columns_(arena.allocate<float>(std::size_t{2} * columns_ * chains).data()),
      intercept_force_(arena.allocate<double>(chains).data()),
      residuals_(arena.allocate<float>(slots * chains).data()),
      curvature_(arena.allocate<float>(slots).data()),
      sums_(arena.allocate<ColumnSums>(columns_).data()),
      met_(arena.allocate<std::uint32_t>(columns_).data()),
      weights_(arena, columns_, weighs_rows() ? slots : 0),
      exact_(arena, weighs_rows() ? columns_ : 0, chains, slots,
             RowLikelihood::kMostWeight * kLargestValue * likelihood_.most_residual()),
      longest_past_(past),
      past_(arena, past > 0 ? columns_ : 0),
      memory_(arena, past > 0 ? columns_ : 0),
      bound_(arena, columns_, weighs_rows() ? 1 : CurvatureBound::kMostCompared),
      block_(arena, std::size_t{model.max_nonzeros} + 1, chains),
      normals_(arena.allocate<float>(NormalSource::rounded(
          std::max(kNormals, (std::size_t{model.max_nonzeros} + 1) * chains)))),
      recent_(chains) {}

// Of rows of so many non-zeros.
double RowBlockLangevin::start_of_precision(double nonzeros) const noexcept {
  return std::max(given_precision_, nonzeros / kPredictorVariance);
}

void RowBlockLangevin::reset() noexcept {
  const double start = start_of_precision(layout_.max_nonzeros());
  evidence_.reset(static_cast<double>(std::max(slots_, longest_past_)));
  if (learns_precision_) {
    precision_.reset(start, least_precision_, most_precision_);
  } else {
    precision_.reset(given_precision_, given_precision_, given_precision_);
  }
  set_units({});
  met_count_ = 0;
  nonzeros_ = rows_ = aside_ = 0;
  lag_ = std::numeric_limits<double>::quiet_NaN();
  recent_.reset();
  informed_ = held_by_prior_ = unsettled_ = 0;
  std::fill_n(residuals_, slots_ * chains_, 0.0F);
  std::fill_n(curvature_, slots_, 0.0F);
  std::fill_n(intercept_force_, chains_, 0.0);
  weights_.reset();
  exact_.reset();
  std::uninitialized_fill_n(sums_, columns_, ColumnSums{});

  block_.reset(chains_);
  past_.reset();
  memory_.reset(static_cast<double>(longest_past_));
  past_.remember(memory_.rows());
  bound_.reset();
  for (std::uint32_t column = 0; column < columns_; ++column) {
    std::fill_n(theta_of(column), chains_, std::numeric_limits<float>::quiet_NaN());
    std::fill_n(force_of(column), chains_, 0.0F);
  }
}

void RowBlockLangevin::set_units(const TargetTransform& units) noexcept {
  likelihood_.set_units(units);
  const bool has = has_dispersion(likelihood_.response());
  dispersion_.reset(has ? given_noise_ / (units.scale * units.scale) : 1,
                    likelihood_.information());
  likelihood_.set_dispersion(dispersion_.value());
}

void RowBlockLangevin::visit_state(StateVisitor& visitor) noexcept {
  static_assert(sizeof(ColumnSums) == 4 * sizeof(std::uint64_t));
  const auto bits = [&](float* numbers, std::size_t count) {
    visitor.visit(std::span(reinterpret_cast<std::uint32_t*>(numbers), count));
  };
  visitor.section("row blocks", 6);
  visitor.values(met_count_, nonzeros_, rows_, aside_);
  recent_.visit_state(visitor);
  visitor.values(lag_, informed_, held_by_prior_, unsettled_);
  visitor.visit(std::span(met_, columns_));
  bits(chains_of_columns_, std::size_t{2} * columns_ * chains_);
  visitor.visit(intercept_force_, chains_);
  bits(residuals_, slots_ * chains_);
  bits(curvature_, slots_);
  visitor.visit(std::span(reinterpret_cast<std::uint64_t*>(sums_), std::size_t{4} * columns_));
  if (weighs_rows()) {
    exact_.visit_state(visitor);
    weights_.visit_state(visitor);
  }
  if (past_.kept()) {
    past_.visit_state(visitor);
    memory_.visit_state(visitor);
  }
  bound_.visit_state(visitor);
  precision_.visit_state(visitor);
  evidence_.visit_state(visitor);
  if (likelihood_.response() == Response::kBernoulli) return;
  TargetTransform units = likelihood_.units();
  visitor.values(units.shift, units.scale);
  likelihood_.set_units(units);
  dispersion_.visit_state(visitor);
  likelihood_.set_dispersion(dispersion_.value());
}

}  // namespace windhover
