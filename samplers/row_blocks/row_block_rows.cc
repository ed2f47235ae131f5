// Rows that come and go, and the survey and copies where draws are taken.
#include <algorithm>
#include <limits>
#include <span>

#include "windhover/samplers/row_blocks/chain_kernels.h"
#include "windhover/samplers/row_blocks/row_block_langevin.h"

namespace windhover {

namespace {

// The least share of all weight that the rows must have without the heaviest ones, of which as many
// are left out as there are columns known from rows.
constexpr double kLeastShare = 0.05;

}  // namespace

bool RowBlockLangevin::enter(const double* row_in_place, std::uint32_t slot) noexcept {
  const RowColumns row = parts_.columns_of(row_in_place);
  parts_.kept.curvature(slot) = 0;
  if (!parts_.in_range(row)) {
    ++parts_.rows.aside;
    if (weighs_rows()) parts_.weights.enter_aside();
    return false;
  }
  const double fresh = begin_columns(row);
  const StepBlock& b = parts_.gathered.block();
  parts_.gathered.load(row);
  parts_.gathered.predict(row);
  if (prior_learner_.columns_have_few_rows(survey_)) prior_learner_.learn(row);
  float* residuals = parts_.kept.residuals(slot);
  if (!weighs_rows()) translation_.work_out_transport(row);
  const float curvature = parts_.gathered.respond(row, 0, residuals, b.bent).curvature;
  parts_.kept.curvature(slot) = curvature;
  if (weighs_rows()) translation_.work_out(row, slot, -1, fresh);
  parts_.noise.keep(row, residuals, 1);
  ++parts_.rows.count;
  parts_.rows.nonzeros += row.count;
  if (weighs_rows()) parts_.weights.enter(row, slot, variance_of({residuals, parts_.chains}));
  parts_.ahead.fetch_some();
  parts_.columns.enter(b, row.count, row.weight * curvature);
  translation_.apply(row, residuals);
  if (weighs_rows()) parts_.exact.add(row, residuals, 1, parts_.positions);
  parts_.add_curvature(row, 0, curvature);
  return true;
}

// Gives the columns of a row that comes their chains, and brings their past up to date. Returns
// what NewColumns::draw_from() says.
double RowBlockLangevin::begin_columns(const RowColumns& row) noexcept {
  const bool keeps_past = parts_.prior.past().kept();
  if (keeps_past) parts_.prior.take(row);
  for (std::size_t k = 0; k < row.count; ++k) {
    const std::uint32_t column = row.column(k);
    if (parts_.columns.of(column).rows > 0 && !keeps_past) continue;
    const bool is_new = !parts_.positions.is_met(column);
    if (keeps_past && !is_new) {
      condenser_.age(column);
      continue;
    }
    if (is_new) parts_.positions.meet(column);
    const std::uint64_t number = parts_.recent.moves() * parts_.positions.columns() + column;
    new_columns_.draw_prior(column, {number, 0, Purpose::kInitialState});
  }
  return parts_.draws_new_columns() ? new_columns_.draw_from(row) : 0;
}

void RowBlockLangevin::leave(const double* row_in_place, std::uint32_t slot) noexcept {
  if (parts_.kept.is_aside(slot)) {
    --parts_.rows.aside;
    if (weighs_rows()) parts_.weights.leave_aside();
    return;
  }
  const RowColumns row = parts_.columns_of(row_in_place);
  const StepBlock& b = parts_.gathered.block();
  const float* residuals = parts_.kept.residuals(slot);
  parts_.noise.keep(row, residuals, -1);
  --parts_.rows.count;
  parts_.rows.nonzeros -= row.count;
  if (weighs_rows()) {
    parts_.weights.leave(row, slot);
    parts_.exact.add(row, residuals, -1, parts_.positions);
  }
  parts_.gathered.unpack(row);
  parts_.ahead.fetch_some();
  parts_.add_curvature(row, parts_.kept.curvature(slot), 0);
  parts_.ahead.fetch_some();
  const bool keeps_past = parts_.prior.past().kept();
  parts_.columns.leave(b, row.count, keeps_past);
  if (keeps_past) return condenser_.condense(row, slot);
  parts_.gathered.load(row);
  if (weighs_rows()) {
    translation_.work_out(row, slot, 1, 0);
  } else {
    translation_.work_out_return(row, slot);
  }
  for (std::uint32_t c = 0; c < parts_.chains; ++c) b.change[c] = -residuals[c];
  translation_.apply(row, b.change);
  for (std::size_t k = 0; k < row.count; ++k) {
    const std::uint32_t column = b.column[k];
    if (parts_.columns.of(column).rows == 0) parts_.positions.set_force(column, 0.0F);
  }
}

// Calls use(columns) for all columns that have had a row, some at a time.
template <class Use>
void RowBlockLangevin::for_met(const Use& use) const noexcept {
  parts_.positions.for_met([this](std::uint32_t column) { parts_.columns.fetch(column); }, use);
}

void RowBlockLangevin::retain(float* out, std::size_t stride) noexcept {
  prior_learner_.stretch();
  ChainSurvey::Sums sums;
  // Each column is surveyed and copied at once, while it is in the caches.
  for_met([&](std::span<const std::uint32_t> columns) {
    sums.add(parts_, columns);
    if (out != nullptr) copy_columns(columns, out, stride);
  });
  survey_.take(sums, parts_.chains);
  if (parts_.noise.dispersion().learned()) {
    const RowBlockParts::Rows& rows = parts_.rows;
    const double weight = parts_.weights.mean() * static_cast<double>(rows.count + rows.aside);
    parts_.noise.end(rows.count, weight, survey_.informed);
  }
  const bool moved = prior_learner_.end(survey_);
  if (out == nullptr) return;
  if (moved) return copy_to(out, stride);
  shift_intercept(out, stride);
}

bool RowBlockLangevin::weights_known() const noexcept {
  if (!weighs_rows() || parts_.rows.count == 0) return true;
  const std::uint64_t heaviest =
      std::min(static_cast<std::uint64_t>(survey_.informed), parts_.rows.count / 2);
  return parts_.weights.share_beyond(heaviest) >= kLeastShare;
}

void RowBlockLangevin::copy_to(float* out, std::size_t stride) const noexcept {
  for_met([&](std::span<const std::uint32_t> columns) { copy_columns(columns, out, stride); });
  shift_intercept(out, stride);
}

void RowBlockLangevin::copy_columns(std::span<const std::uint32_t> columns, float* out,
                                    std::size_t stride) const noexcept {
  const auto scale = static_cast<float>(parts_.noise.likelihood().units().scale);
  chain_kernels().copy(parts_.positions.first(), columns.data(), columns.size(), parts_.chains,
                       scale, out, stride);
  for (const std::uint32_t column : columns) {
    if (parts_.columns.of(column).rows > 0) continue;
    float* to = out + column * stride;
    if (parts_.prior.past().kept()) {
      condenser_.copy(column, to);
    } else {
      *to = std::numeric_limits<float>::quiet_NaN();
    }
  }
}

// Brings the intercept to the units of the rows.
void RowBlockLangevin::shift_intercept(float* out, std::size_t stride) const noexcept {
  const double shift = parts_.noise.likelihood().units().shift;
  if (!parts_.positions.has_intercept() || shift == 0) return;
  float* intercept = out + std::size_t{parts_.positions.intercept()} * stride;
  for (std::uint32_t c = 0; c < parts_.chains; ++c) {
    intercept[c] = static_cast<float>(intercept[c] + shift);
  }
}

}  // namespace windhover
