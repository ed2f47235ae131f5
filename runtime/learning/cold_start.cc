#include "windhover/runtime/learning/cold_start.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "windhover/samplers/registry.h"

namespace windhover {

namespace {

// The most passes, those of halved steps included: outlying rows take hundreds.
constexpr int kMostIterations = 400;
constexpr int kMostDescentIterations = 200;  // where the posterior is not log-concave
constexpr int kMostHalvings = 40;            // of a step
constexpr double kNear = 1e-2;               // the squared distance to the mode, in posterior sd
// A change of the logarithm of a learned prior precision, or of the dispersion: chains follow.
constexpr double kFollowed = 0.1;
constexpr double kUnknownSlope = -std::numeric_limits<double>::infinity();

// The derivative of -log posterior of the rows in done() at their anchor, along the way there.
double slope(const Estimator& estimator, const double* from) noexcept {
  const AnchorSums& rows = estimator.done();
  double sum = 0;
  for (std::uint32_t j = 0; j < rows.dimension(); ++j) {
    const double anchor = rows.anchor()[j];
    const double gradient = rows.scale_to(estimator.laplace().n()) * rows.sums().gradient[j] /
                                estimator.dispersion().divisor() +
                            estimator.prior().values()[j] * anchor;
    sum += gradient * (anchor - from[j]);
  }
  return sum;
}

}  // namespace

ColdStart::ColdStart(Arena& arena, const EngineConfig& config, const WindowCursor& cursor,
                     Estimator& estimator, WindowPass& pass, RowScan& scan,
                     Counters<RuntimeCounter>& counters) noexcept
    : config_(config),
      cursor_(cursor),
      estimator_(estimator),
      pass_(pass),
      scan_(scan),
      counters_(counters),
      step_{arena.allocate<double>(config.model.dimension()).data()},
      scratch_(arena.allocate<double>(config.model.dimension()).data()) {}

void ColdStart::reset(Model* model) noexcept {
  model_ = model;
  std::fill_n(step_.begin, dimension(), 0.0);
}

void ColdStart::begin(std::span<LearnerWorker> workers) noexcept {
  running_ = true;
  run_ = {cursor_.head(), cursor_.rows()};
  step_.halvings = 0;
  step_.first_row = cursor_.first();
  scan_.scan(cursor_, workers, estimator_);
  if (!model_->quadratic()) {
    // The run does not begin at the mode of fewer rows: that lies far off where categories had one
    // outcome among them, and where a network has units that do nothing the way back is flat.
    std::fill_n(scratch_, dimension(), 0.0);
    if (!model_->log_concave()) model_->initial(config_.seed, scratch_);
    estimator_.set_mode(scratch_);
  }
  begin_pass();
}

// A run keeps to the rows it began with until too few of them are left to start chains from.
void ColdStart::begin_pass() noexcept {
  pass_.begin(run_.end >= cursor_.first() + rows_wanted() ? run_.end : cursor_.head());
}

std::uint64_t ColdStart::rows_wanted() const noexcept { return std::min(run_.rows, enough()); }

ColdStart::Outcome ColdStart::advance(LearnerWorker& worker) noexcept {
  // The third-order sums are for the mean; far from the mode Newton's method can do without.
  const bool third = !model_->quadratic() && run_.near;
  pass_.begin_sweep(kWarmUpRows);
  pass_.sum_curvature(starting() ? WindowPass::Terms::kStart
                      : third    ? WindowPass::Terms::kThird
                                 : WindowPass::Terms::kSecond,
                      worker);
  if (!pass_.end_sweep()) return Outcome::kGoesOn;
  const bool started = starting();
  estimator_.end_pass();
  ++run_.iterations;
  if (went_too_far() || !take_step()) return shorten_step();
  // The sums at what the targets suggest are no objective in theta to compare with.
  step_.slope = started ? kUnknownSlope : -estimator_.laplace().newton_decrement();
  step_.halvings = 0;
  std::copy_n(estimator_.done().anchor(), dimension(), step_.begin);
  if (estimator_.laplace().newton_decrement() < kNear) run_.near = true;
  // Where rows leave the window there is no mode to arrive at, only one to follow.
  const bool left = cursor_.first() != step_.first_row;
  step_.first_row = cursor_.first();
  const int most = model_->log_concave() ? kMostIterations : kMostDescentIterations;
  const bool near = at_mode() || (left && near_mode_of_a_stream());
  const auto rows = std::min(static_cast<double>(cursor_.rows()), estimator_.done().count());
  const bool found = near && !started && rows >= static_cast<double>(rows_wanted());
  if (found || model_->quadratic() || run_.iterations >= most) return end(found);
  begin_pass();
  return Outcome::kGoesOn;
}

// Makes the estimates of the rows that were summed, and takes the mode that they lead to.
bool ColdStart::take_step() noexcept {
  const double rows = cursor_.ages().worth(estimator_.done().kish());
  const bool taken = ok(estimator_.refresh(rows, scan_.target_variance()));
  if (!taken) counters_.add(RuntimeCounter::kFactorizationFailures);
  return taken;
}

// Goes half-way back from the anchor to where the last step began.
ColdStart::Outcome ColdStart::shorten_step() noexcept {
  if (run_.iterations == 1 || step_.halvings >= kMostHalvings) {
    running_ = false;
    due_ = pass_.end() + 1;
    return Outcome::kGaveUp;
  }
  for (std::uint32_t j = 0; j < dimension(); ++j) {
    scratch_[j] = 0.5 * (estimator_.done().anchor()[j] + step_.begin[j]);
  }
  estimator_.set_mode(scratch_);
  step_.slope *= 0.5;
  ++step_.halvings;
  begin_pass();
  return Outcome::kGoesOn;
}

// Whether the last step, or what is left of it, has passed the lowest point on its way by far: the
// second condition of Wolfe's on a line search. It asks for the gradient of these rows alone, so
// rows may have come and gone since the step began; if they are all others, halving comes to an
// end.
// A shape that hangs together with theta has moved since the step began: where it took the mode to
// the other side, no step along this one is short enough, and the next goes from here.
bool ColdStart::went_too_far() const noexcept {
  constexpr double kSlope = 0.3;
  constexpr int kMostWithAShape = 3;
  const bool shape = shape_crosses(find_model(config_.model.name)->response);
  return run_.iterations > 1 && step_.halvings < (shape ? kMostWithAShape : kMostHalvings) &&
         !estimator_.laplace().loss().steps_are_safe &&
         slope(estimator_, step_.begin) > -kSlope * step_.slope;
}

// Gauss-Newton steps close in by a factor each, where Newton's square the distance.
bool ColdStart::at_mode() const noexcept {
  const double near = model_->log_concave() ? 1e-10 : 1e-4;
  return estimator_.laplace().newton_decrement() < near &&
         estimator_.dispersion().step() < std::sqrt(0.01 * near) && estimator_.prior().converged();
}

// Whether the step is no longer than from the mode of these rows to that of as many other ones:
// about 2 D, squared and in posterior sd. Or it hardly changes the linear predictors.
bool ColdStart::near_mode_of_a_stream() const noexcept {
  const bool near = !estimator_.laplace().anchor_is_far() ||
                    estimator_.laplace().newton_decrement() < 2.0 * dimension();
  return model_->log_concave() && near && estimator_.laplace().step_is_trusted() &&
         estimator_.dispersion().step() < kFollowed && estimator_.prior().moved() < kFollowed;
}

// Far from the mode chains would lose their way. The point where the last step began is the best
// one seen; another run begins once a 64th more rows have come.
ColdStart::Outcome ColdStart::end(bool found) noexcept {
  const bool stuck = !found && model_->log_concave() &&
                     !estimator_.laplace().loss().steps_are_safe &&
                     estimator_.laplace().newton_decrement() >= kNear;
  if (stuck) estimator_.set_mode(step_.begin);
  running_ = false;
  due_ = pass_.end() + (stuck ? cursor_.rows() / 64 : 0) + 1;
  // Without a window no rows come before the chains have begun.
  if (!keeps_window(config_.horizon)) due_ = std::min(due_, cold_start_rows(config_));
  return stuck ? Outcome::kStuck : Outcome::kCameNear;
}

}  // namespace windhover
