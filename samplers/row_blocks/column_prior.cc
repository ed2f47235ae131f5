#include "windhover/samplers/row_blocks/column_prior.h"

#include <algorithm>

namespace windhover {

namespace {

// The variance of linear predictors under the prior that a learned precision begins with.
constexpr double kPredictorVariance = 2.5 * 2.5;

}  // namespace

ColumnPrior::ColumnPrior(Arena& arena, const ModelConfig& model, std::uint64_t past,
                         const ChainPositions& positions, const ColumnTable& columns,
                         const RowNoise& noise) noexcept
    : positions_(positions),
      columns_(columns),
      noise_(noise),
      past_(arena, past > 0 ? model.columns() : 0),
      memory_(arena, past > 0 ? model.columns() : 0),
      longest_past_(past),
      max_nonzeros_(model.max_nonzeros),
      learned_(model.learn_prior_precision),
      given_(model.prior_precision),
      intercept_(model.intercept_precision),
      least_(model.prior_precision_min),
      most_(model.prior_precision_max) {}

void ColumnPrior::reset() noexcept {
  if (learned_) {
    precision_.reset(start(max_nonzeros_), least_, most_);
  } else {
    precision_.reset(given_, given_, given_);
  }
  past_.reset();
  memory_.reset(static_cast<double>(longest_past_));
  past_.remember(memory_.rows());
}

double ColumnPrior::start(double nonzeros) const noexcept {
  return std::max(given_, nonzeros / kPredictorVariance);
}

void ColumnPrior::take(const RowColumns& row) noexcept {
  past_.add_row();
  if (memory_.take(row, precision_.value(), intercept_)) past_.remember(memory_.rows());
}

void ColumnPrior::visit_past(StateVisitor& visitor) noexcept {
  if (!past_.kept()) return;
  past_.visit_state(visitor);
  memory_.visit_state(visitor);
}

}  // namespace windhover
