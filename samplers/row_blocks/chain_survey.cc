#include "windhover/samplers/row_blocks/chain_survey.h"

#include <algorithm>
#include <array>

#include "windhover/samplers/row_blocks/chain_kernels.h"
#include "windhover/samplers/row_blocks/row_block_parts.h"

namespace windhover {

void ChainSurvey::Sums::add(const RowBlockParts& parts,
                            std::span<const std::uint32_t> columns) noexcept {
  const double dispersion = parts.noise.dispersion().value();
  std::array<const float*, kSurveyedColumns> theta;
  std::array<float, kSurveyedColumns> precision;
  std::array<float, kSurveyedColumns> curvature;
  std::array<float, kSurveyedColumns> rows;
  std::array<float, kSurveyedColumns> unsettled_columns;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const ColumnSums& sums = parts.columns.of(columns[j]);
    const double pull = parts.prior.pull(columns[j]);
    theta[j] = parts.positions.theta(columns[j]);
    precision[j] = static_cast<float>(pull);
    curvature[j] = static_cast<float>(sums.curvature);  // 0 without rows, and nothing counts
    rows[j] = static_cast<float>(sums.rows);
    unsettled_columns[j] = sums.unsettled;
    held_by_prior += parts.prior.of(columns[j]) * dispersion / (pull + sums.curvature);
  }
  const ColumnSurvey some = chain_kernels().survey(
      theta.data(), precision.data(), curvature.data(), rows.data(), unsettled_columns.data(),
      columns.size(), parts.chains, static_cast<float>(dispersion));
  of_chains.weights += some.weights;
  of_chains.squares += some.squares;
  of_chains.unsettled += some.unsettled;
  of_chains.informed += some.informed;
  of_chains.shared += some.shared;
}

void ChainSurvey::take(const Sums& sums, std::uint32_t chains) noexcept {
  const ColumnSurvey& all = sums.of_chains;
  informed = all.informed;
  held_by_prior = sums.held_by_prior;
  unsettled = all.weights > 0 ? all.unsettled / all.weights * all.shared / informed : 0;
  const double own = chains > 1 ? 0 : 1;  // what noise adds for a single chain
  if (all.weights > 0) lag = std::max(0.0, all.squares / all.weights - own);
}

}  // namespace windhover
