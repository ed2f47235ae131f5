#include "windhover/runtime/learning/ensemble.h"

#include <cmath>

namespace windhover {

namespace {

constexpr std::size_t kGroupsAThread = 4;
// Products of two numbers that take some microseconds: less is not worth handing to a thread.
constexpr double kGroupWork = 8192;

}  // namespace

Ensemble::Ensemble(Arena& arena, const EngineConfig& config, const WindowCursor& cursor,
                   Estimator& estimator, std::span<LearnerWorker> workers, AnySampler* sampler,
                   Counters<RuntimeCounter>& counters) noexcept
    : config_(config),
      cursor_(cursor),
      estimator_(estimator),
      workers_(workers),
      chains_(
          arena, config,
          find_sampler(config.sampler.name)->state_size(config.sampler, config.model.dimension())),
      mover_(arena, config, cursor, sampler, counters) {}

void Ensemble::reset() noexcept {
  chains_.reset();
  mover_.reset();
}

// Rows that count by their age have faded before they leave, so their leaving moves nothing.
void Ensemble::add_rows(std::uint64_t fresh) noexcept {
  const std::uint64_t leaving = cursor_.first_at(cursor_.head() + fresh) - cursor_.first();
  lag_.add(static_cast<double>(fresh), cursor_.ages().flat() ? static_cast<double>(leaving) : 0.0);
}

// There are more groups than threads where the work is worth it, so that no thread waits long for
// another's last group.
std::size_t Ensemble::groups() const noexcept {
  const std::size_t threads = workers_.size();
  if (threads == 1) return 1;
  const double chains = static_cast<double>(chains_.size());
  const double work = mover_.minibatch_size() * chains * config_.model.dimension();
  return std::min(chains_.size(), std::clamp(static_cast<std::size_t>(work / kGroupWork), threads,
                                             kGroupsAThread * threads));
}

void Ensemble::move(std::size_t group, LearnerWorker& worker) noexcept {
  mover_.move(chains_, estimator_, group * chains_.size() / groups(),
              (group + 1) * chains_.size() / groups(), worker);
}

void Ensemble::end_move() noexcept {
  moves_ += 1;
  perhaps_misplaced_ = perhaps_misplaced_ || !mover_.rows().suffice();
  // A sampler that does not know how slow it is says 0.
  const double known = mover_.sampler().relaxation();
  const double forgets = known > 0 ? std::max(1.0, known) : mover_.relaxation();
  lag_.forget(forgets, mover_.rows().has_newest());
  uncorrected_ -= uncorrected_ / forgets;
}

const double* Ensemble::noise_anchor(std::uint64_t turn) const noexcept {
  const Chain& chain = chains_.all()[turn % chains_.size()];
  return mover_.far_off(chains_, chain, estimator_) ? estimator_.laplace().mean() : chain.theta;
}

// The sum of `count` squared deviations in one parameter, over its variance, is chi-square.
bool Ensemble::misplaced(double squares, double count, std::size_t parameter) const noexcept {
  constexpr double kSd = 6;
  const std::size_t d = config_.model.dimension();
  const double variance = std::max(1.0, config_.sampler.temperature) *
                          estimator_.laplace().covariance()[parameter * (d + 1)];
  return squares > (count + kSd * std::sqrt(2 * count)) * variance;
}

Ensemble::Misplaced Ensemble::take_misplaced() noexcept {
  if (!std::exchange(perhaps_misplaced_, false) || !mover_.posterior_is_target())
    return Misplaced::kNone;
  Misplaced found = Misplaced::kNone;
  const RetainedDraws& draws = chains_.draws();
  for (std::size_t j = 0; j < config_.model.dimension(); ++j) {
    double squares = 0;
    for (const Chain& chain : chains_.all()) {
      const double deviation = chain.theta[j] - estimator_.laplace().mean()[j];
      squares += deviation * deviation;
    }
    if (misplaced(squares, static_cast<double>(chains_.size()), j)) return Misplaced::kChains;
    const double of_draws = draws.squares(j, estimator_.laplace().n());
    if (misplaced(of_draws, draws.count(), j)) found = Misplaced::kDraws;
  }
  return found;
}

// A Newton step that is too long ends beside the mode. Chains follow the rows to the mode
// meanwhile, so they need not go the way by which the next pass corrects the mean. Rows move the
// mean by chance as far as their share of the window says (`usual`); a longer way has another
// cause.
double Ensemble::followed(bool new_anchor) noexcept {
  const LaplaceApproximation& now = estimator_.laplace();
  const LaplaceApproximation::Gaussian& before = now.before();
  const double usual = config_.model.dimension() * (lag_.arrived + lag_.left) / now.n();
  const double way = estimator_.way_from_before();
  const double chance = way > usual ? usual / way : 1.0;
  double followed = lag_.followed() + chance * lag_.followed_by_chance();
  if (new_anchor && correcting_) {
    followed = chance * followed + (1 - chance) * (1 - uncorrected_);
  }
  // What a Newton step leaves is about as long as the step's square.
  const double left = now.newton_decrement();
  if (!correcting_) {
    uncorrected_ = 1;
  } else if (left > before.newton_decrement) {
    uncorrected_ += (1 - uncorrected_) * (1 - before.newton_decrement / left);
  }
  const bool far = estimator_.far_from_mode();
  perhaps_misplaced_ = perhaps_misplaced_ || (correcting_ && !far);
  correcting_ = far;
  return followed;
}

void Ensemble::follow(std::uint64_t end, bool noise_known, bool new_anchor,
                      Interlude* background_moves) noexcept {
  moves_ = 0;
  const double followed = this->followed(new_anchor);
  const bool log_concave = workers_[0].model->log_concave();
  if (log_concave && !chains_.keep_state()) {
    chains_.transport(estimator_, followed, background_moves);
  } else if (log_concave) {
    chains_.transport_draws(estimator_, background_moves);
  }
  lag_.keep(static_cast<double>(cursor_.head() - end));
  if (mover_.refresh(estimator_, noise_known, background_moves)) {
    mover_.rows().set(cursor_.first(), end);
  }
}

bool Ensemble::start() noexcept {
  if (!mover_.refresh(estimator_, false, nullptr)) return false;
  for (Chain& chain : chains_.all()) {
    mover_.start(chains_, chain, estimator_, chain.index + config_.retained_draws);
  }
  return true;
}

bool Ensemble::go_on() noexcept {
  if (!mover_.refresh(estimator_, true, nullptr)) return false;
  start_anew();
  return true;
}

void Ensemble::start_anew() noexcept {
  for (Chain& chain : chains_.all()) mover_.start_fresh(chains_, chain, estimator_);
  chains_.refill(estimator_);
}

bool Ensemble::restart_far() noexcept {
  bool any = false;
  for (Chain& chain : chains_.all()) {
    if (!mover_.posterior_is_target() || !mover_.far_off(chains_, chain, estimator_)) continue;
    mover_.start_fresh(chains_, chain, estimator_);
    any = true;
  }
  return any;
}

}  // namespace windhover
