#include "windhover/runtime/learning/window_pass.h"

#include <algorithm>

namespace windhover {

WindowPass::WindowPass(Arena& arena, const EngineConfig& config, const WindowCursor& cursor,
                       Estimator& estimator) noexcept
    : cursor_(cursor),
      estimator_(estimator),
      aged_(weighs_ages(config.horizon)),
      sweeps_noise_(config.sampler.noise_estimator == NoiseEstimator::kWindowSweep),
      scores_(arena, config.model.dimension()),
      order_(arena, RowLayout(config.model)),
      repeats_(arena, keeps_window(config.horizon) ? rows_in_memory(config) : 1) {}

void WindowPass::reset() noexcept {
  forget_scores();
  order_.reset();
  repeats_.reset();
}

void WindowPass::begin(std::uint64_t end) noexcept {
  estimator_.begin_pass();
  const std::uint64_t series = cursor_.ages().series_rows();
  scores_from_ = end - std::min(end, series);
  scores_.begin_pass(std::min(cursor_.rows(), series));
  order_.begin_pass();
  repeats_.begin_pass();
  position_ = cursor_.first();
  end_ = end;
}

void WindowPass::begin_sweep(std::uint64_t rows) noexcept {
  if (end_ <= cursor_.first()) end_ = cursor_.head();
  if (position_ < cursor_.first()) {
    scores_.skip_rows();
    if (position_ > 0) fade(cursor_.ages().weight(position_ - 1, cursor_.first() - 1));
    position_ = cursor_.first();
  }
  const auto summed = static_cast<std::uint64_t>(estimator_.sums().pass().count());
  const std::uint64_t left = std::max(cursor_.rows(), summed + 1) - summed;
  sweep_end_ = std::min({end_, position_ + rows, position_ + left});
}

void WindowPass::sum_curvature(Terms terms, LearnerWorker& worker) noexcept {
  for_pieces([&](std::uint64_t first, std::uint64_t last, double keep) {
    const RowBatch batch = cursor_.between(first, last, worker.indices);
    if (keep < 1) estimator_.sums().pass().fade(keep);
    if (terms == Terms::kStart) {
      estimator_.sums().pass().add_start(*worker.model, batch);
    } else {
      const double* covariance =
          terms == Terms::kThird ? estimator_.laplace().covariance() : nullptr;
      estimator_.sums().pass().add(*worker.model, batch, covariance);
    }
    if (cursor_.head() < RowOrder::kFewRows) order_.add(batch);
    repeats_.add(cursor_.layout(), batch);
  });
}

void WindowPass::sum_noise(const double* at, LearnerWorker& worker) noexcept {
  for_pieces([&](std::uint64_t first, std::uint64_t last, double keep) {
    const RowBatch batch = cursor_.between(first, last, worker.indices);
    if (worker.model->log_concave() && first >= scores_from_) {
      worker.model->set_dispersion(estimator_.sums().pass().dispersion());
      scores_.add(*worker.model, batch, estimator_.sums().pass().anchor(),
                  estimator_.laplace().covariance(), estimator_.laplace().n(),
                  estimator_.dispersion().divisor(), end_ - last);
    }
    if (sweeps_noise_) {
      if (keep < 1) estimator_.noise().measured().fade(keep);
      worker.model->set_dispersion(estimator_.dispersion().value());
      estimator_.noise().measured().add_rows(*worker.model, batch, at);
    }
  });
}

void WindowPass::conclude_scores() noexcept {
  scores_.end_pass();
  order_.conclude();
  const std::uint64_t rows = scores_.rows_since_change();
  drift_onset_ = rows == 0 ? 0 : end_ - std::min(rows, end_);
}

// Fades the sums for rows that were skipped, newer than those summed.
void WindowPass::fade(double keep) noexcept {
  if (keep == 1) return;
  estimator_.sums().pass().fade(keep);
  estimator_.noise().measured().fade(keep);
}

bool WindowPass::end_sweep() noexcept {
  position_ = sweep_end_;
  const bool whole_window = estimator_.sums().pass().count() >= static_cast<double>(cursor_.rows());
  if (whole_window) end_ = position_;
  return position_ == end_;
}

}  // namespace windhover
