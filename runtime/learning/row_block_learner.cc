#include "windhover/runtime/learning/row_block_learner.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "windhover/platform/random.h"
#include "windhover/runtime/diagnostics/consistency.h"
#include "windhover/runtime/learning/units.h"

namespace windhover {

namespace {

// A spare move stands for at most so many moves. Where rows are drawn by weight it stands for as
// many as a row weighs on average, and for the most while the chains are wider than kContracted:
// they contract the slower the more rows weigh.
constexpr double kMostSpare = 16;
// For other rows spare moves make up to so many passes, as far as kMostSpare allows: where rows
// have a hundred columns that depend on one another predictions get better for as long
// (samplers/row_blocks/tried.md).
constexpr double kMostPasses = 192;
constexpr double kContracted = 1.1;
// How often draws are retained while each chain draws as many rows as there are: close together
// while rows come and the posterior changes, otherwise far enough apart to differ.
constexpr std::uint64_t kDrawsAPass = 16;
// Retaining looks at no more than so many columns for each column that a move has touched.
constexpr double kColumnsATouch = 4;
// The bound on the steps follows one row for so many moves of each chain, or for every move while
// only spare ones are made. Up to kFewRows, whenever the rows have doubled, it follows all of them
// kPassesOfFewRows times.
constexpr std::uint32_t kMovesABoundRow = 4;
constexpr std::uint64_t kFewRows = 1024;
constexpr int kPassesOfFewRows = 3;
// So many rows ahead, the data of columns are fetched for rows that come and go.
constexpr std::uint64_t kColumnsAhead = 2;

bool power_of_two(std::uint64_t n) noexcept { return (n & (n - 1)) == 0; }

}  // namespace

RowBlockLearner::RowBlockLearner(Arena& arena, const EngineConfig& config, Window& window,
                                 Snapshots<Posterior>& snapshots, Clock& clock,
                                 Counters<RuntimeCounter>& counters) noexcept
    : config_(config),
      counters_(counters),
      snapshots_(snapshots),
      clock_(clock),
      cursor_(window),
      sampler_(arena, config.model, config.sampler.chains, window.capacity(), config.seed,
               condenses_past(config) ? config.window_size : 0),
      units_(config_, cursor_),
      groups_(arena, config.model.dimension(), config.sampler.chains, config.retained_draws,
              config.seed),
      credit_(config.draws_per_observation) {}

void RowBlockLearner::reset() noexcept {
  sampler_.reset();
  units_.reset();
  sampler_.set_units(given_target_units(config_));
  groups_.reset();
  publish();
}

std::uint64_t RowBlockLearner::next_head() noexcept {
  return std::min(cursor_.published(), cursor_.head() + kMovesARound);
}

void RowBlockLearner::take_head(std::uint64_t head) noexcept {
  const std::uint64_t before = cursor_.head();
  if (head == before) return cursor_.advance(head);
  tell_head(head);
  const std::uint64_t first = cursor_.first_at(head);
  const auto leave = [&](std::uint64_t row) { sampler_.leave(cursor_.row(row), slot_of(row)); };
  if (units_.known()) for_rows(cursor_.first(), std::min(first, before), leave);
  cursor_.advance(head);
  const bool begins = !units_.known();
  if (begins && units_.find()) sampler_.set_units(units_.of_rows());
  if (units_.known()) enter_rows(begins ? first : std::max(first, before));
  const bool again = units_.known() && !begins && units_.are_off(sampler_, before);
  if (again) start_over();
  const auto rows = static_cast<double>(cursor_.rows());
  const double fresh = begins || again ? rows : static_cast<double>(head - before);
  credit_.grant(fresh, rows);
}

// Begins again in the units of the rows that are there, as if all had come now.
void RowBlockLearner::start_over() noexcept {
  sampler_.reset();
  sampler_.set_units(units_.of_rows());
  phase_ = Phase::kWarmingUp;
  groups_.start_over();
  enter_rows(cursor_.first());
}

// Enters the window's rows from `first` on.
void RowBlockLearner::enter_rows(std::uint64_t first) noexcept {
  for_rows(first, cursor_.head(), [&](std::uint64_t row) {
    if (!sampler_.enter(cursor_.row(row), slot_of(row))) {
      counters_.add(RuntimeCounter::kRowsSetAside);
    }
    const std::uint64_t rows = row + 1;
    if (cursor_.first() > 0 || rows > kFewRows || !power_of_two(rows)) return;
    for (int pass = 0; pass < kPassesOfFewRows; ++pass) {
      for (std::uint64_t i = 0; i < rows; ++i)
        sampler_.steps().follow_bound(cursor_.row(i), slot_of(i));
    }
  });
}

// Calls use(row) for the rows [first, end). Their columns are fetched before their turn; the rows
// themselves lie one after the other and need no hint.
template <class Use>
void RowBlockLearner::for_rows(std::uint64_t first, std::uint64_t end, const Use& use) noexcept {
  for (std::uint64_t row = first; row < end; ++row) {
    if (row + kColumnsAhead < end) sampler_.ahead().fetch_columns(cursor_.row(row + kColumnsAhead));
    use(row);
  }
  sampler_.ahead().forget();
}

// How many moves a spare one stands for, by the rows that are in the window now.
double RowBlockLearner::spare_moves() const noexcept {
  if (!sampler_.weighs_rows()) {
    return std::clamp(kMostPasses / (MoveCredit::kSpare * config_.draws_per_observation), 1.0,
                      kMostSpare);
  }
  if (!(spread() < kContracted)) return kMostSpare;
  return std::clamp(sampler_.weights().mean(), 1.0, kMostSpare);
}

void RowBlockLearner::spend(std::uint32_t moves) noexcept {
  const auto spent = static_cast<double>(moves);
  drawn_ += spent;
  groups_.count_moves(moves);
  if (credit_.spend(spent)) replay_ratio_.drew(spent);
  replay_ratio_.update(cursor_.head(), cursor_.rows(),
                       std::min(credit_.owed(), double{kMovesARound}));
}

// One round: rows have come in, every chain moves on some of the window's rows, and now and then
// where they stand is retained. false: there is nothing to do.
bool RowBlockLearner::do_round() noexcept {
  credit_.stretch_spare(spare_moves());
  const bool moving = cursor_.rows() > 0 && units_.known();
  const bool fresh = cursor_.fresh() > 0;
  const std::uint32_t moves = moving ? credit_.due(kMovesARound, fresh) : 0;
  const bool idle = moves == 0 && !fresh;
  if (idle && groups_.unretained() == 0 && !groups_.rows_came(cursor_.head())) {
    // Draws that readers were in the way of are served once these have released theirs.
    return groups_.behind() && catch_up();
  }
  if (moves > 0) {
    move_chains(moves);
    const std::uint32_t each = credit_.resting() ? 1 : kMovesABoundRow;
    follow_bound((moves + each - 1) / each);
    spend(moves);
  }
  ++round_;
  if (idle || groups_.unretained() >= moves_between_draws()) retain();
  return true;
}

// All chains move on the same rows, so that what they share of a column is fetched and worked out
// once. Their noise sums to 0 (samplers/row_blocks/cost.md).
void RowBlockLearner::move_chains(std::uint32_t moves) noexcept {
  const auto slots = std::span(slots_).first(moves);
  draw_slots(slots);
  sampler_.move(round_, {cursor_.rows_in_place(), slots.data(), slots.size()});
  const std::uint64_t steps = std::uint64_t{moves} * config_.sampler.chains;
  counters_.add(RuntimeCounter::kSteps, steps);
  counters_.add(RuntimeCounter::kExamples, steps);
}

// Draws the rows of this round.
void RowBlockLearner::draw_slots(std::span<std::uint32_t> slots) noexcept {
  const RandomPosition position = {round_, 0, Purpose::kMinibatch};
  const std::uint64_t rows = cursor_.rows();
  if (!sampler_.weighs_rows()) {
    fill_indices(config_.seed, position, static_cast<std::uint32_t>(rows), slots);
    for (std::uint32_t& slot : slots) slot = slot_of(cursor_.first() + slot);
    return;
  }
  std::array<double, 2 * kMovesARound> uniforms;
  fill_uniforms(config_.seed, position, std::span(uniforms).first(2 * slots.size()));
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const auto any = static_cast<std::uint64_t>(uniforms[2 * i] * static_cast<double>(rows));
    slots[i] = sampler_.weights().slot_of(uniforms[2 * i + 1], slot_of(cursor_.first() + any));
  }
}

// Follows the bound by the next rows of its pass, which begins again at its end.
void RowBlockLearner::follow_bound(std::uint64_t rows) noexcept {
  for (; rows > 0; --rows, ++bound_row_) {
    if (bound_row_ < cursor_.first() || bound_row_ >= cursor_.head()) bound_row_ = cursor_.first();
    if (bound_row_ + 1 < cursor_.head())
      sampler_.steps().fetch_for_bound(cursor_.row(bound_row_ + 1));
    sampler_.steps().follow_bound(cursor_.row(bound_row_), slot_of(bound_row_));
  }
}

// Retaining looks at every column that has had a row; looking costs less than a move that touches
// it.
std::uint64_t RowBlockLearner::moves_between_draws() const noexcept {
  const auto met = static_cast<double>(sampler_.positions().met().size());
  const double columns = met / (kColumnsATouch * sampler_.rows().mean_nonzeros());
  const bool rows_came = groups_.rows_came(cursor_.head());
  return std::max({std::uint64_t{kMovesARound}, cursor_.rows() / (rows_came ? kDrawsAPass : 1),
                   static_cast<std::uint64_t>(columns)});
}

// Retains where the chains are now as draws.
void RowBlockLearner::retain() noexcept {
  sampler_.retain(groups_.room(snapshots_), groups_.stride());
  groups_.retain(cursor_.head(), moves_between_draws(), phase_ == Phase::kSampling);
  if (groups_.full() && spread() < Consistency::kTolerance) phase_ = Phase::kSampling;
  groups_.show();
  publish();  // also where the draws could not be shown: the status says so
}

// Serves where the chains stand, which no move has changed since it was retained. false: readers
// are still in the way.
bool RowBlockLearner::catch_up() noexcept {
  float* room = groups_.room(snapshots_);
  if (room == nullptr) return false;
  sampler_.copy_to(room, groups_.stride());
  groups_.show();
  publish();
  return true;
}

// The observed variance of the chains over the predicted one: around their centre, plus an estimate
// of the centre's distance from the posterior's.
double RowBlockLearner::spread() const noexcept {
  return sampler_.spread_ratio() + sampler_.survey().lag;
}

void RowBlockLearner::visit_state(StateVisitor& visitor) noexcept {
  visitor.section("row block learner", 3);
  visitor.values(phase_, round_);
  credit_.visit_state(visitor);
  visitor.value(drawn_);
  groups_.visit_retained(visitor);
  visitor.value(bound_row_);
  groups_.visit_served(visitor);
  visitor.value(snapshot_id_);
  units_.visit_state(visitor);
  cursor_.visit_state(visitor);
  replay_ratio_.visit_state(visitor);
  sampler_.visit_state(visitor);
  groups_.visit_draws(visitor);
  std::int64_t age = clock_.now_ns() - published_ns_;
  visitor.value(age);
  if (!visitor.restores()) return snapshots_.published()->visit_state(visitor);
  published_ns_ = clock_.now_ns() - age;
  Posterior& posterior = begin_publish();
  posterior.visit_state(visitor);
  posterior.made_ns = published_ns_;
  snapshots_.publish();
}

}  // namespace windhover
