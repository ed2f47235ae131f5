#include "windhover/runtime/learning/surprise_limit.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "windhover/samplers/registry.h"

namespace windhover {

namespace {

constexpr double kMedianOfNormal = 0.6744897501960817;  // of |z|
constexpr std::uint32_t kMeasuredAfter = SurpriseLimit::kRows / 10;
// A y that is nearly always the same says little of its noise, so the unit has a lower bound, in
// predicted sd. 15 % of the rows that lie far off together make an sd of which they are 2.6 off,
// which is beyond 8 of the least units.
constexpr double kLeastUnit = 0.25;

}  // namespace

SurpriseLimit::SurpriseLimit(const EngineConfig& config,
                             Counters<RuntimeCounter>& counters) noexcept
    : what_(config.surprising_rows),
      acts_(what_ == SurprisingRows::kDownWeight || what_ == SurprisingRows::kSetAside),
      limit_(what_ == SurprisingRows::kDownWeight ? kNear : kFar),
      // The likelihood of counts says how wide they are. Where their mean is small most are 0, near
      // it, and the median would say far less.
      least_unit_(is_number(find_model(config.model.name)->response) ? kLeastUnit : 1.0),
      counters_(counters) {}

void SurpriseLimit::reset() noexcept {
  newest_.fill(0);
  count_ = next_ = beyond_ = unmeasured_ = 0;
  times_ = kTimes;
  judged_ = judged_of_all_ = 0;
  unit_ = 1;
}

// Calls take(row, distance) for each row.
template <class Take>
void SurpriseLimit::for_distances(Model& model, const Estimator& estimator,
                                  const WindowCursor& cursor, std::uint64_t first,
                                  std::uint64_t last, std::span<std::uint32_t> indices,
                                  Take&& take) noexcept {
  std::array<RowDistance, kAtATime> distances;
  model.set_dispersion(estimator.dispersion().value());
  while (first < last) {
    const std::uint64_t end = std::min<std::uint64_t>(last, first + kAtATime);
    if (count_ >= kLeast && unmeasured_ >= kMeasuredAfter) measure_unit();
    const DistanceJudge judge{estimator.laplace().mode(), estimator.laplace().covariance(),
                              estimator.dispersion().divisor(), limit_ * limit_ * unit_ * unit_};
    model.row_distances(cursor.between(first, end, indices), judge, distances.data());
    for (std::size_t i = 0; first < end; ++i, ++first) take(first, distances[i]);
  }
}

// Also true of NaN, the distance of a row so far out that it has overflowed.
bool SurpriseLimit::is_beyond(double distance, double limit) const noexcept {
  return !(distance <= limit * limit * unit_ * unit_);
}

void SurpriseLimit::note(const RowDistance& distance) noexcept {
  const bool beyond = is_beyond(distance.predictive, limit_);
  const double z = std::sqrt(distance.noise);
  const double kept = z < std::numeric_limits<double>::max() ? z : 1e300;
  if (count_ == kRows && std::signbit(newest_[next_])) --beyond_;
  newest_[next_] = beyond ? -kept : kept;
  beyond_ += beyond ? 1 : 0;
  next_ = (next_ + 1) % kRows;
  count_ = std::min(count_ + 1, kRows);
  ++unmeasured_;
}

void SurpriseLimit::measure_unit() noexcept {
  const auto end = std::transform(newest_.begin(), newest_.begin() + count_, scratch_.begin(),
                                  [](double z) { return std::abs(z); });
  const auto middle = scratch_.begin() + count_ / 2;
  std::nth_element(scratch_.begin(), middle, end);
  unit_ = std::max(*middle / kMedianOfNormal, least_unit_);
  unmeasured_ = 0;
}

// The weight of a row that came with the weight `given`.
double SurpriseLimit::weight_of(const RowDistance& distance, double given) const noexcept {
  if (!acts_ || !is_beyond(distance.predictive, limit_) || stands_aside()) return given;
  if (what_ == SurprisingRows::kSetAside) return 0;
  const double share = limit_ * limit_ * unit_ * unit_ / distance.noise;
  return share >= 0 ? given * std::min(share, 1.0) : 0.0;  // false of what is not a number
}

// Returns whether the row has another weight now. One that is judged again is not counted again.
bool SurpriseLimit::limit_row(const RowDistance& distance, std::uint64_t row,
                              WindowCursor& cursor) noexcept {
  if (count_ < kLeast) return false;
  const RowLayout& layout = cursor.layout();
  const double given = layout.given_weight(cursor.row(row));
  const double before = layout.weight(cursor.row(row));
  const double weight = weight_of(distance, given);
  if (before == given) {
    if (is_beyond(distance.predictive, kFar)) counters_.add(RuntimeCounter::kRowsSurprising);
    if (weight != given) {
      counters_.add(what_ == SurprisingRows::kSetAside ? RuntimeCounter::kRowsSetAside
                                                       : RuntimeCounter::kRowsDownWeighted);
    }
  }
  if (weight == before) return false;
  cursor.set_learner_weight(row, weight);
  return true;
}

void SurpriseLimit::judge(Model& model, const Estimator& estimator, WindowCursor& cursor,
                          std::uint64_t first, std::uint64_t last,
                          std::span<std::uint32_t> indices) noexcept {
  for_distances(model, estimator, cursor, first, last, indices,
                [&](std::uint64_t row, const RowDistance& distance) {
                  note(distance);
                  (void)limit_row(distance, row, cursor);
                });
  judged_ = last;
}

// Measures the unit of the newest rows first, twice, as which rows are beyond the limit depends on
// it.
bool SurpriseLimit::judge_all(Model& model, const Estimator& estimator, WindowCursor& cursor,
                              std::span<std::uint32_t> indices) noexcept {
  const std::uint64_t head = cursor.head();
  if (times_ == 0) {
    judge(model, estimator, cursor, std::max(judged_, cursor.first()), head, indices);
    return false;
  }
  --times_;
  judged_ = judged_of_all_ = head;
  const std::uint64_t newest = head - std::min<std::uint64_t>(cursor.rows(), kRows);
  for (int times = 0; times < 2; ++times) {
    count_ = next_ = beyond_ = 0;
    for_distances(model, estimator, cursor, newest, head, indices,
                  [&](std::uint64_t, const RowDistance& distance) { note(distance); });
    if (count_ >= kLeast) measure_unit();
  }
  bool any = false;
  for_distances(model, estimator, cursor, cursor.first(), head, indices,
                [&](std::uint64_t row, const RowDistance& distance) {
                  any = limit_row(distance, row, cursor) || any;
                });
  return any;
}

void SurpriseLimit::start_over() noexcept {
  if (judged_ > judged_of_all_) times_ = kTimes;
}

void SurpriseLimit::visit_state(StateVisitor& visitor, WindowCursor& cursor) noexcept {
  visitor.section("surprise limit");
  visitor.values(count_, next_, beyond_, unmeasured_, times_, judged_, judged_of_all_, unit_);
  visitor.visit(newest_.data(), newest_.size());
  if (visitor.restores()) {  // whatever a damaged copy says
    count_ = std::min(count_, kRows);
    next_ %= kRows;
  }
  if (!acts_) return;
  for (std::uint64_t first = cursor.oldest(); first < cursor.head();) {
    const auto rows = std::min<std::uint64_t>(kAtATime, cursor.head() - first);
    for (std::uint64_t i = 0; i < rows; ++i) {
      scratch_[i] = cursor.layout().weight(cursor.row(first + i));
    }
    visitor.visit(scratch_.data(), rows);
    for (std::uint64_t i = 0; visitor.restores() && i < rows; ++i) {
      cursor.set_learner_weight(first + i, scratch_[i]);
    }
    first += rows;
  }
}

}  // namespace windhover
