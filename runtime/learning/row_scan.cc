#include "windhover/runtime/learning/row_scan.h"

#include <algorithm>
#include <cmath>

namespace windhover {

namespace {

constexpr std::uint64_t kScanRows = 65'536;
constexpr std::uint64_t kTargetRows = 1024;

// The column of value(row) over up to twice `most` rows of the window, evenly spaced, each by its
// weight.
template <class Value>
Column scan_column(const WindowCursor& cursor, std::uint64_t most, Value&& value) noexcept {
  const std::uint64_t stride = std::max<std::uint64_t>(1, cursor.rows() / most);
  return column_of(
      cursor.first(), cursor.head(), stride,
      [&](std::uint64_t at) { return value(cursor.row(at)); },
      [&](std::uint64_t at) { return cursor.layout().weight(cursor.row(at)); });
}

double feature(const RowLayout& layout, const double* row, std::uint32_t j) noexcept {
  if (!layout.sparse()) return row[j];
  const SparseRow sparse(layout, row);
  const std::uint32_t* end = sparse.indices + sparse.count;
  const std::uint32_t* at = std::lower_bound(sparse.indices, end, j);
  return at != end && *at == j ? sparse.values[at - sparse.indices] : 0.0;
}

// y without what the offset says: for counts, the count per unit of exposure.
double free_of_offset(const RowLayout& layout, Response response, const double* row) noexcept {
  const double y = working_target(response, row[layout.target_index()]);
  if (!layout.has_offset()) return y;
  return is_count(response) ? y * std::exp(-layout.offset(row)) : y - layout.offset(row);
}

// The column of the targets, less their offsets; counts are taken as they are.
Column scan_column_of_targets(const WindowCursor& cursor, Response response,
                              std::uint64_t most) noexcept {
  const RowLayout& layout = cursor.layout();
  return scan_column(cursor, most, [&](const double* row) {
    return is_count(response) ? row[layout.target_index()] : free_of_offset(layout, response, row);
  });
}

double mean_exposure(const WindowCursor& cursor, Response response) noexcept {
  const RowLayout& layout = cursor.layout();
  if (!layout.has_offset() || !is_count(response)) return 1.0;
  return scan_column(cursor, kScanRows,
                     [&](const double* row) { return std::exp(layout.offset(row)); })
      .mean();
}

// The row after the last one from `first` on whose number is more than 1000 times as far from the
// median as those of nine rows of ten; `first` if there is none. `numbers` are those of all rows,
// and are shuffled.
template <class Value>
std::uint64_t end_of_far_numbers(std::uint64_t first, std::span<double> numbers,
                                 Value&& value) noexcept {
  constexpr double kFar = 1000;
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = value(first + i);
  const auto at = [&](std::size_t rank) {
    const auto place = numbers.begin() + static_cast<std::ptrdiff_t>(rank);
    std::ranges::nth_element(numbers, place);
    return *place;
  };
  const double median = at(numbers.size() / 2);
  for (double& x : numbers) x = std::abs(x - median);
  const double most = at(numbers.size() * 9 / 10);
  if (!(most > 0)) return first;
  std::uint64_t end = first + numbers.size();
  while (end > first && !(std::abs(value(end - 1) - median) > kFar * most)) --end;
  return end;
}

// The squared unit in which y is seen.
double squared_scale(Model& model) noexcept { return model.target().scale * model.target().scale; }

}  // namespace

void RowScan::scan(const WindowCursor& cursor, std::span<LearnerWorker> workers,
                   Estimator& estimator) noexcept {
  Model& model = *workers[0].model;
  if (scans_features(config_) && !frozen_) scan_features(cursor, model.transform());
  const Column targets = scan_column_of_targets(cursor, model.response(), kScanRows);
  // Units are taken anew until the chains start; where targets did not vary until then, until they
  // do.
  if (config_.standardize_target == Standardize::kColdStart && !(frozen_ && target_units_known_)) {
    target_units_known_ = targets.varies() || is_count(model.response());
    model.target() =
        scanned_target_units(config_, targets, mean_exposure(cursor, model.response()));
    estimator.set_target_scale(model.target().scale);
  }
  const double equal = scale_of_equal_targets(model.response(), targets.mean());
  const double variance = targets.variance();
  target_variance_ =
      (variance > 0 ? variance : std::max(equal * equal, 1e-12)) / squared_scale(model);
  estimator.set_target_variance(target_variance_);
  share_transform(workers);
}

TargetTransform RowScan::target_units(const EngineConfig& config,
                                      const WindowCursor& cursor) noexcept {
  const Response response = find_model(config.model.name)->response;
  return scanned_target_units(config, scan_column_of_targets(cursor, response, kScanRows),
                              mean_exposure(cursor, response));
}

void RowScan::scan_features(const WindowCursor& cursor,
                            FeatureTransform& transform) const noexcept {
  const RowLayout& layout = cursor.layout();
  for (std::uint32_t j = 0; j < layout.features(); ++j) {
    const Column column =
        scan_column(cursor, kScanRows, [&](const double* row) { return feature(layout, row, j); });
    const FeatureUnits units = feature_units(config_, column);
    transform.shift[j] = units.shift;
    transform.inverse_scale[j] = units.inverse_scale;
  }
}

std::uint64_t RowScan::end_of_far_rows(const WindowCursor& cursor, const Model& model,
                                       std::span<double> column) noexcept {
  const RowLayout& layout = cursor.layout();
  const std::span<double> numbers = column.first(static_cast<std::size_t>(cursor.rows()));
  std::uint64_t end = cursor.first();
  if (numbers.empty()) return end;
  if (has_target_units(model.response())) {
    end = end_of_far_numbers(cursor.first(), numbers, [&](std::uint64_t row) {
      return free_of_offset(layout, model.response(), cursor.row(row));
    });
  }
  for (std::uint32_t j = 0; j < layout.features(); ++j) {
    const auto value = [&](std::uint64_t row) { return feature(layout, cursor.row(row), j); };
    end = std::max(end, end_of_far_numbers(cursor.first(), numbers, value));
  }
  return end;
}

void RowScan::scan_targets(const WindowCursor& cursor, Model& model,
                           Estimator& estimator) noexcept {
  const Column targets = scan_column_of_targets(cursor, model.response(), kTargetRows);
  const double equal = scale_of_equal_targets(model.response(), targets.mean());
  const double variance = targets.variance();
  const double squared = squared_scale(model);
  // A stuck sensor, even at 0, says nothing of how far its rows scatter, so its variance is taken
  // for one unit squared at least.
  estimator.set_target_variance((variance > 0 ? variance : std::max(equal * equal, squared)) /
                                squared);
  if (!target_units_known_ && targets.varies()) target_units_due_ = true;
}

void RowScan::visit_state(StateVisitor& visitor, std::span<LearnerWorker> workers) noexcept {
  visitor.section("row scan");
  visitor.values(frozen_, target_units_known_, target_units_due_, target_variance_);
  TargetTransform& target = workers[0].model->target();
  visitor.values(target.shift, target.scale);
  workers[0].model->transform().visit_state(visitor);
  if (visitor.restores()) share_transform(workers);
}

void RowScan::share_transform(std::span<LearnerWorker> workers) noexcept {
  Model& leader = *workers[0].model;
  for (const LearnerWorker& worker : workers.subspan(1)) {
    worker.model->target() = leader.target();
    std::ranges::copy(leader.transform().shift, worker.model->transform().shift.begin());
    std::ranges::copy(leader.transform().inverse_scale,
                      worker.model->transform().inverse_scale.begin());
  }
}

}  // namespace windhover
