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
  if (next_first - first > most || next_first > joined_) {
    outrun(next_first - first);
    return false;
  }
  const RowBatch leaving = cursor_.between(first, next_first, worker.indices);
  Model& model = *worker.model;
  const double* covariance = model.quadratic() ? nullptr : estimator_.laplace().covariance();
  const double* prior = estimator_.prior().values();
  if (state_ == State::kExact && !estimator_.done().remove(model, leaving, covariance, prior)) {
    state_ = State::kUnusable;
  }
  if (!pass_exact_ || pass_.position() <= first || !pass_.running()) return false;
  const RowBatch swept =
      cursor_.between(first, std::min(next_first, pass_.position()), worker.indices);
  if (estimator_.pass().remove(model, swept, covariance, prior)) return false;
  begin_pass();
  return true;
}

bool WindowSums::join(std::uint64_t rows, LearnerWorker& worker) noexcept {
  joined_ = std::max(joined_, cursor_.first());
  if (joined_ >= cursor_.head()) return false;
  const std::uint64_t last = std::min(cursor_.head(), joined_ + rows);
  estimator_.done().add(*worker.model, cursor_.between(joined_, last, worker.indices),
                        worker.model->quadratic() ? nullptr : estimator_.laplace().covariance());
  tail_rows_ += static_cast<double>(last - joined_);
  joined_ = last;
  return true;
}

void WindowSums::begin_pass() noexcept {
  pass_.begin(cursor_.head());
  pass_exact_ = true;
}

PassResult WindowSums::complete_pass(bool moving) noexcept {
  const std::uint64_t rows = cursor_.rows();
  estimator_.end_pass();
  PassResult result{};
  result.replaced = static_cast<double>(pass_.end() - previous_end_) /
                    static_cast<double>(std::max<std::uint64_t>(rows, 1));
  result.outrun = pass_exact_ && moving && 10 * outrun_rows_ > rows;
  if (moving && pass_.end() == previous_end_) ++quiet_passes_;
  previous_end_ = pass_.end();
  if (pass_exact_) outrun_rows_ = 0;
  state_ = pass_exact_ ? State::kExact : State::kStale;
  joined_ = pass_.end();
  tail_rows_ = 0;
  return result;
}

void WindowSums::begin_after_cold_start() noexcept { joined_ = pass_.end(); }

double WindowSums::rows() const noexcept {
  return std::min(static_cast<double>(cursor_.rows()), estimator_.done().rows());
}

bool WindowSums::filled() const noexcept {
  return estimator_.done().rows() >= (1 - kFewRows) * estimator_.laplace().n();
}

}  // namespace windhover
