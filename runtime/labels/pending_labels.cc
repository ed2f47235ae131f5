#include "windhover/runtime/labels/pending_labels.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "windhover/runtime/prediction/predict.h"

namespace windhover {

PendingLabels::PendingLabels(Arena& arena, const EngineConfig& config, Clock& clock,
                             const EngineProgress& progress,
                             Counters<RuntimeCounter>& counters) noexcept
    : layout_(config.model),
      missing_(config.missing_features),
      timeout_ns_(static_cast<std::int64_t>(config.labels.timeout_seconds * 1e9)),
      timeout_outcome_(config.labels.timeout_outcome),
      clock_(clock),
      progress_(progress),
      counters_(counters),
      keys_(arena, config.labels.pending),
      places_(arena, config.labels.pending),
      rows_(arena.allocate<double>(config.labels.pending * layout_.stride())),
      hashes_(arena.allocate<std::uint64_t>(config.window_slack)),
      answers_(arena, config.labels.pending,
               config.score_predictions ? Predictor::given_numbers(config) : 0) {}

void PendingLabels::reset() noexcept {
  keys_.reset();
  places_.reset();
  answers_.reset();
  restored_ = 0;
  left_out_ = 0;
  pending_ = 0;
}

PendingKey PendingLabels::keep(std::string_view key, const PredictRequest& request, std::size_t row,
                               const GivenAnswer* answer) noexcept {
  const std::lock_guard lock(mutex_);
  const std::int64_t now_ns = clock_.now_ns();
  std::optional<std::uint32_t> place = keys_.find(key);
  const bool replaces = place && keys_.state(*place) == KeyState::kPending;
  if (replaces) {
    places_.stop_waiting(*place);
    counters_.add(RuntimeCounter::kLabelsReplaced);
  } else {
    place = begin(key, now_ns);
    if (!place) {
      counters_.add(RuntimeCounter::kLabelsTableFull);
      return PendingKey::kTableFull;
    }
  }
  write_row(request, row, row_of(*place));
  answers_.kept.write(*place, answer, replaces);
  // What a log learns again came before the question.
  const std::uint64_t since = std::max(places_.next_row(), progress_.recovery_target());
  places_.wait(*place, now_ns + timeout_ns_, since);
  counters_.add(RuntimeCounter::kLabelsKept);
  return replaces ? PendingKey::kReplaced : PendingKey::kKept;
}

std::optional<std::uint32_t> PendingLabels::begin(std::string_view key,
                                                  std::int64_t now_ns) noexcept {
  std::optional<std::uint32_t> place = places_.take(answers_.queue.read());
  // While a log is learned again, the rows of some that are overdue are still to come.
  const bool drops = !place && std::isnan(timeout_outcome_) && progress_.recovery_target() == 0;
  if (drops && drop_some(1, now_ns) > 0) place = places_.take(answers_.queue.read());
  if (!place) return place;
  keys_.erase(*place);
  if (const auto settled = keys_.find(key)) keys_.erase(*settled);
  keys_.insert(*place, key);
  pending_.store(pending_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return place;
}

// Writes the row as Ingest does, with an outcome of 0 and a weight of 1.
void PendingLabels::write_row(const PredictRequest& request, std::size_t row,
                              double* out) const noexcept {
  std::fill_n(out, layout_.stride(), 0.0);
  if (layout_.sparse()) {
    const std::size_t begin = row == 0 ? 0 : request.row_ends[row - 1];
    const std::size_t count = request.row_ends[row] - begin;
    out[RowLayout::kCountIndex] = static_cast<double>(count);
    std::copy_n(request.features.data() + begin, count, out + RowLayout::kValuesIndex);
    std::memcpy(out + layout_.indices_index(), request.indices.data() + begin,
                count * sizeof(std::uint32_t));
  } else {
    std::copy_n(request.features.data() + row * layout_.features(), layout_.features(), out);
    missing_.fill(out);
  }
  if (layout_.has_offset() && !request.offsets.empty()) {
    out[layout_.offset_index()] = request.offsets[row];
  }
  if (layout_.has_trials()) {
    out[layout_.trials_index()] = request.trials.empty() ? 1.0 : request.trials[row];
  }
  if (layout_.takes_weight()) out[layout_.given_weight_index()] = 1;
}

// `sequence`: of the row of the stream that the key's row has become; kNoSequence: of none.
void PendingLabels::settle(std::uint32_t place, KeyState state, std::uint64_t sequence) noexcept {
  pending_.store(pending_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  counters_.add(state == KeyState::kJoined ? RuntimeCounter::kLabelsJoined
                                           : RuntimeCounter::kLabelsTimedOut);
  keys_.settle(place, state);
  if (sequence == kNoSequence) return places_.settle(place);
  hashes_[sequence % hashes_.size()] = keys_.hash(keys_.key(place));
  const bool is_scored = answers_.kept.has(place);
  places_.settle(place, sequence,
                 is_scored ? answers_.queue.push(sequence, place) : PlaceLists::kNoEntry);
}

void PendingLabels::settle_again(std::uint64_t hash, KeyState state, std::uint64_t row) noexcept {
  const std::lock_guard lock(mutex_);
  const std::optional<std::uint32_t> place = keys_.find_hash(hash);
  if (!place || keys_.state(*place) != KeyState::kPending) return;
  if (row >= places_.since(*place)) settle(*place, state, row);
}

std::uint64_t PendingLabels::overdue(std::uint64_t most) noexcept {
  const std::lock_guard lock(mutex_);
  return places_.count_overdue(most, clock_.now_ns());
}

std::uint64_t PendingLabels::drop_some(std::uint64_t most, std::int64_t now_ns) noexcept {
  std::uint64_t dropped = 0;
  while (dropped < most) {
    const std::optional<std::uint32_t> place = places_.overdue(now_ns);
    if (!place) break;
    settle(*place, KeyState::kTimedOut, kNoSequence);
    ++dropped;
  }
  return dropped;
}

std::uint64_t PendingLabels::drop_overdue(std::uint64_t most) noexcept {
  const std::lock_guard lock(mutex_);
  return drop_some(most, clock_.now_ns());
}

}  // namespace windhover
