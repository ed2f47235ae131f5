#include "windhover/runtime/labels/pending_labels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "windhover/platform/checksum.h"
#include "windhover/platform/entropy.h"
#include "windhover/runtime/prediction/predict.h"

namespace windhover {

PendingLabels::PendingLabels(Arena& arena, const EngineConfig& config, Clock& clock,
                             Counters<RuntimeCounter>& counters) noexcept
    : layout_(config.model),
      missing_(config.missing_features),
      timeout_ns_(static_cast<std::int64_t>(config.labels.timeout_seconds * 1e9)),
      timeout_outcome_(config.labels.timeout_outcome),
      given_numbers_(config.score_predictions ? Predictor::given_numbers(config) : 0),
      answer_numbers_(given_numbers_ > 0 ? given_numbers_ + 2 * kScoredIntervals.size() : 0),
      clock_(clock),
      counters_(counters),
      places_(arena.allocate<Place>(config.labels.pending)),
      buckets_(arena.allocate<std::uint32_t>(std::bit_ceil(config.labels.pending))),
      rows_(arena.allocate<double>(places_.size() * layout_.stride())),
      answers_(arena.allocate<double>(places_.size() * answer_numbers_)),
      entries_(arena.allocate<Entry>(given_numbers_ > 0 ? places_.size() : 0)) {}

void PendingLabels::reset() noexcept {
  std::ranges::fill(buckets_, kNone);
  unused_ = 0;
  settled_ = 0;
  waiting_ = free_ = unread_ = {};
  judged_ = {};
  read_ = 0;
  written_ = done_ = pending_ = 0;
  // Keys that meet in one bucket are hard to choose for whoever does not know it. Where the kernel
  // has no generator it is at least another one each time.
  if (!fill_with_entropy(std::as_writable_bytes(std::span(&hash_seed_, 1)))) {
    hash_seed_ = static_cast<std::uint64_t>(RealClock().now_ns());
  }
}

std::uint32_t PendingLabels::bucket_of(std::string_view key) const noexcept {
  const std::uint64_t hash = checksum(std::as_bytes(std::span(key)), hash_seed_);
  return static_cast<std::uint32_t>(hash & (buckets_.size() - 1));
}

std::uint32_t PendingLabels::find(std::string_view key) const noexcept {
  std::uint32_t place = buckets_[bucket_of(key)];
  while (place != kNone &&
         std::string_view(places_[place].key.data(), places_[place].key_bytes) != key) {
    place = places_[place].next_in_bucket;
  }
  return place;
}

void PendingLabels::append(List& list, std::uint32_t place) noexcept {
  places_[place].previous = list.last;
  places_[place].next = kNone;
  (list.last == kNone ? list.first : places_[list.last].next) = place;
  list.last = place;
}

void PendingLabels::remove(List& list, std::uint32_t place) noexcept {
  const Place& p = places_[place];
  (p.previous == kNone ? list.first : places_[p.previous].next) = p.next;
  (p.next == kNone ? list.last : places_[p.next].previous) = p.previous;
}

void PendingLabels::forget_key(std::uint32_t place) noexcept {
  Place& p = places_[place];
  if (p.key_bytes == 0) return;
  std::uint32_t* at = &buckets_[p.bucket];
  while (*at != place) at = &places_[*at].next_in_bucket;
  *at = p.next_in_bucket;
  p.key_bytes = 0;
}

// Of no list and without a key: the one that was settled first of those that the learner does not
// have to read. kNone: there is none.
std::uint32_t PendingLabels::take_place() noexcept {
  if (unused_ < places_.size()) {
    places_[unused_].key_bytes = 0;
    return unused_++;
  }
  std::uint32_t place = free_.first;
  const std::uint32_t read = unread_.first;
  const bool is_read = read != kNone &&
                       places_[read].entry < done_.load(std::memory_order_acquire) &&
                       (place == kNone || places_[read].order < places_[place].order);
  if (is_read) place = read;
  if (place == kNone) return kNone;
  remove(is_read ? unread_ : free_, place);
  forget_key(place);
  return place;
}

PendingKey PendingLabels::keep(std::string_view key, const PredictRequest& request, std::size_t row,
                               const GivenAnswer* answer) noexcept {
  const std::lock_guard lock(mutex_);
  const std::int64_t now_ns = clock_.now_ns();
  std::uint32_t place = find(key);
  const bool replaces = place != kNone && places_[place].state == State::kPending;
  if (replaces) {
    remove(waiting_, place);
    counters_.add(RuntimeCounter::kLabelsReplaced);
  } else {
    place = take_place();
    const bool drops = place == kNone && std::isnan(timeout_outcome_);
    if (drops && drop_some(1, now_ns) > 0) place = take_place();
    if (place == kNone) {
      counters_.add(RuntimeCounter::kLabelsTableFull);
      return PendingKey::kTableFull;
    }
    if (const std::uint32_t settled = find(key); settled != kNone) forget_key(settled);
    Place& p = places_[place];
    key.copy(p.key.data(), p.key.size());
    p.key_bytes = static_cast<std::uint8_t>(key.size());
    p.bucket = bucket_of(key);
    p.next_in_bucket = buckets_[p.bucket];
    buckets_[p.bucket] = place;
    p.state = State::kPending;
    p.entry = kNoEntry;
    pending_.store(pending_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  places_[place].order = now_ns + timeout_ns_;
  write_row(request, row, row_of(place));
  write_answer(place, answer, replaces);
  append(waiting_, place);
  counters_.add(RuntimeCounter::kLabelsKept);
  return replaces ? PendingKey::kReplaced : PendingKey::kKept;
}

// As ingest writes it, with an outcome of 0 and without a weight of its own.
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

void PendingLabels::write_answer(std::uint32_t place, const GivenAnswer* answer,
                                 bool replaces) noexcept {
  Place& p = places_[place];
  const bool had_one = replaces && p.answered;
  p.answered = answer != nullptr && given_numbers_ > 0;
  if (!p.answered) return;
  const auto n_seen = static_cast<std::uint32_t>(answer->n_seen);
  const bool decided = had_one && p.n_seen == n_seen && p.use >= OutcomeUse::kConformal;
  p.n_seen = n_seen;
  if (!decided || answer->use < OutcomeUse::kConformal) p.use = answer->use;
  if (!decided && p.use == OutcomeUse::kCheck) {
    if (judged_.left(answer->n_seen, answer->n_eff) > 0) {
      judged_.add(answer->n_seen);
    } else {
      p.use = OutcomeUse::kConformal;
    }
  }
  double* out = std::ranges::copy(answer->numbers, answer_of(place)).out;
  for (std::size_t i = 0; i < kScoredIntervals.size(); ++i) {
    *out++ = answer->served[i].lower;
    *out++ = answer->served[i].upper;
  }
}

// `sequence`: of the row that it has become.
void PendingLabels::settle(std::uint32_t place, State state, std::uint64_t sequence) noexcept {
  Place& p = places_[place];
  remove(waiting_, place);
  p.order = settled_++;
  pending_.store(pending_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  counters_.add(state == State::kJoined ? RuntimeCounter::kLabelsJoined
                                        : RuntimeCounter::kLabelsTimedOut);
  p.state = state;
  const bool is_read = p.answered && sequence != kNoSequence;
  append(is_read ? unread_ : free_, place);
  if (!is_read) return;
  p.entry = written_.load(std::memory_order_relaxed);
  entries_[p.entry % entries_.size()] = {sequence, place};
  written_.store(p.entry + 1, std::memory_order_release);
}

std::uint64_t PendingLabels::overdue(std::uint64_t most) noexcept {
  const std::lock_guard lock(mutex_);
  const std::int64_t now_ns = clock_.now_ns();
  std::uint64_t count = 0;
  for (std::uint32_t place = waiting_.first;
       count < most && place != kNone && is_overdue(place, now_ns); place = places_[place].next) {
    ++count;
  }
  return count;
}

std::uint64_t PendingLabels::drop_some(std::uint64_t most, std::int64_t now_ns) noexcept {
  std::uint64_t dropped = 0;
  while (dropped < most && waiting_.first != kNone && is_overdue(waiting_.first, now_ns)) {
    settle(waiting_.first, State::kTimedOut, kNoSequence);
    ++dropped;
  }
  return dropped;
}

std::uint64_t PendingLabels::drop_overdue(std::uint64_t most) noexcept {
  const std::lock_guard lock(mutex_);
  return drop_some(most, clock_.now_ns());
}

const PendingLabels::Entry* PendingLabels::read_up_to(std::uint64_t sequence) noexcept {
  const std::uint64_t written = written_.load(std::memory_order_acquire);
  while (read_ < written && entries_[read_ % entries_.size()].sequence < sequence) ++read_;
  return read_ < written ? &entries_[read_ % entries_.size()] : nullptr;
}

const GivenAnswer* PendingLabels::given(std::uint64_t sequence) noexcept {
  const Entry* const entry = read_up_to(sequence);
  if (entry == nullptr || entry->sequence != sequence) return nullptr;
  const Place& place = places_[entry->place];
  const double* numbers = answer_of(entry->place);
  read_answer_.numbers = {numbers, given_numbers_};
  read_answer_.use = place.use;
  const double* served = numbers + given_numbers_;
  for (std::size_t i = 0; i < kScoredIntervals.size(); ++i) {
    read_answer_.served[i] = {served[2 * i], served[2 * i + 1]};
  }
  return &read_answer_;
}

void PendingLabels::scored(std::uint64_t head) noexcept {
  read_up_to(head);
  done_.store(read_, std::memory_order_release);
}

}  // namespace windhover
