#include "windhover/samplers/row_blocks/chain_survey.h"

#include <algorithm>
#include <array>

#include "windhover/samplers/row_blocks/chain_kernels.h"
#include "windhover/samplers/row_blocks/row_block_parts.h"

namespace windhover {

void ChainSurvey::take(const RowBlockParts& parts) noexcept {
  const double dispersion = parts.noise.dispersion().value();
  ColumnSurvey all{0, 0, 0, 0, 0};
  double by_prior = 0;
  const auto fetch = [&](std::uint32_t column) { parts.columns.fetch(column); };
  parts.positions.for_met(fetch, [&](std::span<const std::uint32_t> columns) {
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
      by_prior += parts.prior.of(columns[j]) * dispersion / (pull + sums.curvature);
    }
    const ColumnSurvey some = chain_kernels().survey(
        theta.data(), precision.data(), curvature.data(), rows.data(), unsettled_columns.data(),
        columns.size(), parts.chains, static_cast<float>(dispersion));
    all.weights += some.weights;
    all.squares += some.squares;
    all.unsettled += some.unsettled;
    all.informed += some.informed;
    all.shared += some.shared;
  });
  informed = all.informed;
  held_by_prior = by_prior;
  unsettled = all.weights > 0 ? all.unsettled / all.weights * all.shared / informed : 0;
  const double own = parts.chains > 1 ? 0 : 1;  // of a chain alone
  if (all.weights > 0) lag = std::max(0.0, all.squares / all.weights - own);
}

}  // namespace windhover
