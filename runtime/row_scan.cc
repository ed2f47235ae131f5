#include "windhover/runtime/row_scan.h"

#include <algorithm>
#include <cmath>

namespace windhover {

namespace {

constexpr std::uint64_t kScanRows = 65'536;
constexpr std::uint64_t kTargetRows = 1024;

struct Spread {
  double mean = 0;
  double variance = 0;
};

// Of value(row) over the window's rows, at most some `most` of them.
template <class Value>
Spread spread(const WindowCursor& cursor, std::uint64_t most, Value&& value) noexcept {
  const std::uint64_t stride = std::max<std::uint64_t>(1, cursor.rows() / most);
  double count = 0;
  double mean = 0;
  double squares = 0;
  for (std::uint64_t s = cursor.first(); s < cursor.head(); s += stride) {
    const double x = value(cursor.row(s));
    count += 1;
    const double delta = x - mean;
    mean += delta / count;
    squares += delta * (x - mean);
  }
  return {mean, count > 0 ? squares / count : 0.0};
}

double column(const RowLayout& layout, const double* row, std::uint32_t j) noexcept {
  if (!layout.sparse()) return row[j];
  const SparseRow sparse(layout, row);
  const std::uint32_t* end = sparse.indices + sparse.count;
  const std::uint32_t* at = std::lower_bound(sparse.indices, end, j);
  return at != end && *at == j ? sparse.values[at - sparse.indices] : 0.0;
}

}  // namespace

void RowScan::scan(const WindowCursor& cursor, std::span<LearnerWorker> workers,
                   Estimator& estimator) noexcept {
  const RowLayout& layout = cursor.layout();
  FeatureTransform& transform = workers[0].model->transform();
  for (std::uint32_t j = 0; standardize_ && j < layout.features(); ++j) {
    const auto [mean, variance] =
        spread(cursor, kScanRows, [&](const double* row) { return column(layout, row, j); });
    // A column that has not varied yet says nothing about its scale.
    const bool constant = !(variance > 1e-24 * mean * mean);
    transform.inverse_scale[j] = constant ? 1.0 : 1.0 / std::sqrt(variance);
    transform.shift[j] = layout.sparse() ? 0.0 : mean;
  }
  const auto [mean, variance] =
      spread(cursor, kScanRows, [&](const double* row) { return row[layout.target_index()]; });
  target_variance_ = variance > 0 ? variance : std::max(mean * mean, 1e-12);
  estimator.set_target_variance(target_variance_);
  share_transform(workers);
}

void RowScan::scan_targets(const WindowCursor& cursor, Estimator& estimator) const noexcept {
  const std::size_t target = cursor.layout().target_index();
  const auto [mean, variance] =
      spread(cursor, kTargetRows, [&](const double* row) { return row[target]; });
  estimator.set_target_variance(variance > 0 ? variance : mean * mean);
}

void RowScan::share_transform(std::span<LearnerWorker> workers) noexcept {
  const FeatureTransform& leader = workers[0].model->transform();
  for (const LearnerWorker& worker : workers.subspan(1)) {
    std::ranges::copy(leader.shift, worker.model->transform().shift.begin());
    std::ranges::copy(leader.inverse_scale, worker.model->transform().inverse_scale.begin());
  }
}

}  // namespace windhover
