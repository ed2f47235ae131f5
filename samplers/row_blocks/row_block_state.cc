// What row blocks hold: where it lies, how it begins, and what a checkpoint has of it.
#include <algorithm>
#include <cmath>
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
      learns_precision_(model.learn_prior_precision),
      given_precision_(model.prior_precision),
      given_noise_(model.noise_variance),
      intercept_precision_(model.intercept_precision),
      least_precision_(model.prior_precision_min),
      most_precision_(model.prior_precision_max),
      chains_(chains),
      seed_(seed),
      positions_(arena, model.columns(), chains, model.intercept),
      kept_(arena, slots, chains),
      sums_(arena.allocate<ColumnSums>(columns()).data()),
      weights_(arena, columns(), weighs_rows() ? slots : 0),
      exact_(arena, weighs_rows() ? columns() : 0, chains, slots,
             RowLikelihood::kMostWeight * kLargestValue * likelihood_.most_residual()),
      longest_past_(past),
      past_(arena, past > 0 ? columns() : 0),
      memory_(arena, past > 0 ? columns() : 0),
      bound_(arena, columns(), weighs_rows() ? 1 : CurvatureBound::kMostCompared),
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
  evidence_.reset(static_cast<double>(std::max(kept_.slots(), longest_past_)));
  if (learns_precision_) {
    precision_.reset(start, least_precision_, most_precision_);
  } else {
    precision_.reset(given_precision_, given_precision_, given_precision_);
  }
  set_units({});
  nonzeros_ = rows_ = aside_ = 0;
  survey_ = {};
  recent_.reset();
  kept_.reset();
  weights_.reset();
  exact_.reset();
  std::uninitialized_fill_n(sums_, columns(), ColumnSums{});

  block_.reset(chains_);
  past_.reset();
  memory_.reset(static_cast<double>(longest_past_));
  past_.remember(memory_.rows());
  bound_.reset();
  positions_.reset();
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
  visitor.section("row blocks", 6);
  positions_.visit_count(visitor);
  visitor.values(nonzeros_, rows_, aside_);
  recent_.visit_state(visitor);
  survey_.visit_state(visitor);
  positions_.visit_state(visitor);
  kept_.visit_state(visitor);
  visitor.visit(std::span(reinterpret_cast<std::uint64_t*>(sums_), std::size_t{4} * columns()));
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
