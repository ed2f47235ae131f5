#include "windhover/runtime/learning/ensemble.h"

#include <cmath>

namespace windhover {

namespace {

constexpr std::size_t kGroupsAThread = 4;
// Products of two numbers that take some microseconds: less is not worth handing to a thread.
constexpr double kGroupWork = 8192;
// How far the logarithm of a learned prior precision may go while the chains forget once, and at a
// time.
constexpr double kPriorMove = 0.1;
constexpr double kLongestPriorMove = 0.5;

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

// Rows that count by their age fade, and hardly leave.
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
  thrown_ = thrown_ || !mover_.rows().suffice();
  // A sampler that does not know how slow it is says 0.
  const double known = mover_.sampler().relaxation();
  const double relaxation = mover_.relaxation();
  lag_.forget(known > 0 ? std::max(1.0, known) : relaxation, mover_.rows().has_newest());
  prior_move_ = std::min(kLongestPriorMove, prior_move_ + kPriorMove / relaxation);
}

const double* Ensemble::noise_anchor(std::uint64_t turn) const noexcept {
  const Chain& chain = chains_.all()[turn % chains_.size()];
  return mover_.far_off(chains_, chain, estimator_) ? estimator_.laplace().mean() : chain.theta;
}

void Ensemble::follow(std::uint64_t end, bool noise_known, Interlude* background_moves) noexcept {
  prior_move_ = 0;
  moves_ = 0;
  const bool log_concave = workers_[0].model->log_concave();
  if (log_concave && !chains_.keep_state()) {
    chains_.transport(estimator_, lag_.followed(), background_moves);
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
