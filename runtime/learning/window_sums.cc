#include "windhover/runtime/learning/window_sums.h"

#include <algorithm>

namespace windhover {

void WindowSums::outrun(std::uint64_t rows) noexcept {
  if (state_ == State::kExact) state_ = State::kStale;
  pass_exact_ = false;
  outrun_rows_ += rows;
}

void WindowSums::skip_leaving(std::uint64_t head) noexcept {
  const std::uint64_t leaving = cursor_.first_at(head) - cursor_.first();
  if (leaving > 0) outrun(leaving);
}

bool WindowSums::remove_leaving(std::uint64_t head, std::uint64_t most,
                                LearnerWorker& worker) noexcept {
  const std::uint64_t first = cursor_.first();
  const std::uint64_t next_first = cursor_.first_at(head);
  if (next_first == first) return false;
  if (next_first - first > most || (exact() && next_first > joined_)) {
    outrun(next_first - first);
    return follow_overtaken_pass(head);
  }
  if (state_ == State::kExact &&
      !take_out(estimator_.sums().done(), first, next_first, joined_ - 1, worker)) {
    state_ = State::kUnusable;
  }
  const std::uint64_t swept = pass_.position();
  if (!pass_exact_) return follow_overtaken_pass(head);
  if (swept <= first || !pass_.running()) return false;
  if (take_out(estimator_.sums().pass(), first, std::min(next_first, swept), swept - 1, worker)) {
    return false;
  }
  begin_pass(head);
  return true;
}

bool WindowSums::follow_overtaken_pass(std::uint64_t head) noexcept {
  if (!pass_.running() || estimator_.sums().pass().count() == 0) return false;
  if (pass_.position() >= cursor_.first_at(head)) return false;
  if (began_again_) {
    pass_unbroken_ = false;
    return false;
  }
  begin_pass(head);
  began_again_ = true;
  return true;
}

bool WindowSums::take_out(AnchorSums& sums, std::uint64_t first, std::uint64_t end,
                          std::uint64_t newest, LearnerWorker& worker) noexcept {
  Model& model = *worker.model;
  const double* covariance = model.quadratic() ? nullptr : estimator_.laplace().covariance();
  const AgeWeights& ages = cursor_.ages();
  bool usable = true;
  for (std::uint64_t at = first; at < end;) {
    const std::uint64_t last = std::min(end, ages.end_of_step(at));
    usable = sums.remove(model, cursor_.between(at, last, worker.indices), covariance,
                         estimator_.prior().values(), ages.weight(at, newest)) &&
             usable;
    at = last;
  }
  return usable;
}

bool WindowSums::join(std::uint64_t rows, LearnerWorker& worker) noexcept {
  if (!exact()) return false;
  AnchorSums& sums = estimator_.sums().done();
  const AgeWeights& ages = cursor_.ages();
  if (joined_ < cursor_.first()) {
    const double keep = joined_ > 0 ? ages.weight(joined_ - 1, cursor_.first() - 1) : 1.0;
    if (keep < 1) sums.fade(keep);
    joined_ = cursor_.first();
  }
  if (joined_ >= cursor_.head()) return false;
  const std::uint64_t end = std::min(cursor_.head(), joined_ + rows);
  const double* covariance =
      worker.model->quadratic() ? nullptr : estimator_.laplace().covariance();
  tail_rows_ += static_cast<double>(end - joined_);
  while (joined_ < end) {
    const std::uint64_t last = std::min(end, ages.end_of_step(joined_));
    const double keep = joined_ > 0 ? ages.weight(joined_ - 1, joined_) : 1.0;
    if (keep < 1) sums.fade(keep);
    sums.add(*worker.model, cursor_.between(joined_, last, worker.indices), covariance);
    joined_ = last;
  }
  return true;
}

void WindowSums::begin_pass(std::uint64_t head) noexcept {
  pass_.begin(head);
  pass_exact_ = true;
  pass_unbroken_ = true;
  began_again_ = false;
}

PassResult WindowSums::complete_pass(bool moving) noexcept {
  const std::uint64_t rows = cursor_.rows();
  estimator_.end_pass();
  PassResult result{};
  const AgeWeights& ages = cursor_.ages();
  result.replaced = ages.sums(previous_end_, pass_.end()).weight /
                    std::max(ages.sums(cursor_.first(), cursor_.head()).weight, 1.0);
  result.outrun = pass_exact_ && moving && 10 * outrun_rows_ > rows;
  if (moving && pass_.end() == previous_end_) ++quiet_passes_;
  previous_end_ = pass_.end();
  if (pass_exact_) outrun_rows_ = 0;
  state_ = pass_exact_ ? State::kExact : State::kStale;
  unbroken_ = pass_unbroken_;
  joined_ = pass_.end();
  tail_rows_ = 0;
  return result;
}

void WindowSums::begin_after_cold_start() noexcept { joined_ = pass_.end(); }

double WindowSums::worth() const noexcept {
  return std::min(cursor_.worth(), cursor_.ages().worth(estimator_.done().kish()));
}

bool WindowSums::filled() const noexcept {
  return cursor_.ages().worth(estimator_.done().kish()) >=
         (1 - kFewRows) * estimator_.laplace().n();
}

}  // namespace windhover
