// Keys in a checkpoint: they go out one at a time while others are at work, and come in at a start.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "windhover/runtime/checkpoint/format.h"
#include "windhover/runtime/labels/pending_labels.h"
#include "windhover/runtime/prediction/predict.h"
#include "windhover/runtime/window/packed_rows.h"

namespace windhover {

std::size_t PendingLabels::largest_saved(const EngineConfig& config) noexcept {
  const std::size_t numbers = Predictor::given_numbers(config) + 2 * kScoredIntervals.size() + 1;
  return sizeof(SavedKeysHeader) + sizeof(SavedKey) + kMaxKeyBytes +
         PackedRows(RowLayout(config.model)).largest() + numbers * sizeof(double);
}

SavedKeysHeader PendingLabels::saved_header() noexcept {
  const std::lock_guard lock(mutex_);
  const JudgedRows& judged = answers_.kept.judged();
  return {places(), keys_.seed(), judged.n_seen(), judged.rows()};
}

// A key that became a row from `head` on was pending then.
std::size_t PendingLabels::save(std::uint32_t place, std::uint64_t head, std::uint64_t learned,
                                std::byte* out) noexcept {
  const std::lock_guard lock(mutex_);
  const std::string_view key = keys_.key(place);
  if (key.empty()) return 0;
  const KeyState now = keys_.state(place);
  const bool became_none = now == KeyState::kTimedOut && std::isnan(timeout_outcome_);
  const bool was_pending =
      now == KeyState::kPending || (!became_none && places_.row(place) >= head);
  SavedKey saved{};
  saved.key_bytes = static_cast<std::uint8_t>(key.size());
  saved.state = was_pending ? KeyState::kPending : now;
  if (now == KeyState::kPending) {
    saved.when = std::max<std::int64_t>(0, places_.until_ns(place) - clock_.now_ns());
    saved.since = places_.since(place);
  } else {
    saved.when = !was_pending                 ? static_cast<std::int64_t>(places_.row(place))
                 : now == KeyState::kTimedOut ? 0
                                              : timeout_ns_;
    saved.since = head;
  }
  // The learner has scored the rows that it has taken in, and a key may have become none.
  const bool to_be_scored =
      was_pending || (places_.has_entry(place) && places_.row(place) >= learned);
  saved.answered = to_be_scored && answers_.kept.has(place) ? 1 : 0;
  std::byte* at = out + sizeof(saved);
  std::memcpy(at, key.data(), key.size());
  at += key.size();
  if (was_pending) {
    const PackedRows packed(layout_);
    packed.pack(row_of(place), at);
    at += packed.bytes_of(row_of(place));
  }
  if (saved.answered != 0) {
    answers_.kept.save(place, at);
    at += answers_.kept.saved_bytes();
  }
  saved.bytes = static_cast<std::uint32_t>(at - out);
  std::memcpy(out, &saved, sizeof(saved));
  return saved.bytes;
}

// A smaller table than the one that was saved takes no settled keys, so that they do not take the
// places of pending ones.
bool PendingLabels::restore(std::span<const std::byte> section, std::uint64_t head) noexcept {
  if (section.size() < sizeof(SavedKeysHeader)) return false;
  const auto header = checkpoint::load<SavedKeysHeader>(section.data());
  if (restored_ == 0) keys_.reset(header.seed);
  answers_.kept.judged().restore(header.judged_posterior, header.judged_rows);
  section = section.subspan(sizeof(header));
  while (!section.empty()) {
    if (section.size() < sizeof(SavedKey)) return false;
    const std::size_t bytes = checkpoint::load<SavedKey>(section.data()).bytes;
    if (bytes < sizeof(SavedKey) || bytes > section.size()) return false;
    if (!restore_key(section.first(bytes), head, header.places <= places())) return false;
    section = section.subspan(bytes);
  }
  return true;
}

bool PendingLabels::restore_key(std::span<const std::byte> entry, std::uint64_t head,
                                bool with_settled) noexcept {
  const auto saved = checkpoint::load<SavedKey>(entry.data());
  entry = entry.subspan(sizeof(saved));
  if (saved.key_bytes == 0 || saved.key_bytes > std::min(kMaxKeyBytes, entry.size()) ||
      saved.state > KeyState::kTimedOut || saved.when < 0) {
    return false;
  }
  const std::string_view key(reinterpret_cast<const char*>(entry.data()), saved.key_bytes);
  entry = entry.subspan(key.size());
  const bool pends = saved.state == KeyState::kPending;
  if (!pends && static_cast<std::uint64_t>(saved.when) > head) return false;
  // Of a key that was found twice, because it was asked about again meanwhile, the last counts.
  const std::optional<std::uint32_t> known = keys_.find(key);
  const std::uint32_t place = known.value_or(restored_);
  if (place == places() || (!pends && !with_settled)) {
    left_out_ += pends ? 1 : 0;
    return true;
  }
  if (pends) {
    const PackedRows packed(layout_);
    const std::size_t bytes = packed.first_row(entry);
    if (bytes == 0 || !ok(packed.unpack(entry, row_of(place)))) return false;
    entry = entry.subspan(bytes);
    places_.restore_waiting(place, clock_.now_ns() + std::min(saved.when, timeout_ns_),
                            saved.since);
  } else {
    places_.restore_settled(place, static_cast<std::uint64_t>(saved.when));
  }
  // An engine of another configuration may keep other answers, or none.
  const bool fits = saved.answered != 0 && entry.size() == answers_.kept.saved_bytes();
  answers_.kept.restore(place, fits ? entry : std::span<const std::byte>());
  if (!known) {
    keys_.insert(place, key);
    ++restored_;
  }
  keys_.settle(place, saved.state);
  return true;
}

// Keys were counted by the learner's moment, and are now as of another.
void PendingLabels::end_restore() noexcept {
  using enum RuntimeCounter;
  std::uint64_t pending = 0;
  const auto waits = [&](std::uint32_t place) {
    const bool does = keys_.state(place) == KeyState::kPending;
    pending += does ? 1 : 0;
    return does;
  };
  std::uint64_t next = 0;  // no row has two answers
  places_.arrange(restored_, waits, [&](std::uint32_t place) {
    const std::uint64_t row = places_.row(place);
    if (!answers_.kept.has(place) || row < next) return PlaceLists::kNoEntry;
    next = row + 1;
    return answers_.queue.push(row, place);
  });
  pending_.store(pending, std::memory_order_relaxed);
  counters_.add(kLabelsTableFull, left_out_);
  counters_.set(kLabelsKept, pending + counters_.get(kLabelsJoined) +
                                 counters_.get(kLabelsTimedOut) + counters_.get(kLabelsReplaced));
}

}  // namespace windhover
