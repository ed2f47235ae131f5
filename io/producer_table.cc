#include "windhover/io/producer_table.h"

#include <algorithm>
#include <bit>
#include <memory>

#include "windhover/platform/check.h"

namespace windhover {

ProducerTable::ProducerTable(Arena& arena, std::size_t capacity) noexcept
    : capacity_(capacity),
      entries_(arena.allocate<Entry>(capacity)),
      slots_(arena.allocate<std::uint32_t>(std::bit_ceil(2 * capacity))) {}

void ProducerTable::reset(const Rules& rules) noexcept {
  WINDHOVER_CHECK(rules.claims_per_connection >= 1 &&
                  rules.claims_per_connection <= ProducerClaims::kMost);
  for (Entry& entry : entries_) std::construct_at(&entry);
  std::fill(slots_.begin(), slots_.end(), kNone);
  size_ = 0;
  lasting_ = 0;
  forgotten_ = 0;
  oldest_ = newest_ = kNone;
  unknown_ = {};
  rules_ = rules;
  rules_.seed |= 1;
  shift_ = 64 - std::countr_zero(slots_.size());
}

// Multiplication by a random odd number and the product's highest bits: no two producers that were
// chosen without knowing it meet more often than by chance.
std::size_t ProducerTable::home(std::uint64_t producer) const noexcept {
  return static_cast<std::size_t>((producer * rules_.seed) >> shift_);
}

// Where the producer's place stands, or would.
std::size_t ProducerTable::slot_of(std::uint64_t producer) const noexcept {
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = home(producer);
  while (slots_[i] != kNone && entries_[slots_[i]].producer != producer) i = (i + 1) & mask;
  return i;
}

ProducerTable::Entry& ProducerTable::at(std::uint64_t producer) noexcept {
  WINDHOVER_CHECK(producer != 0);
  const std::uint32_t place = slots_[slot_of(producer)];
  return place == kNone ? unknown_ : entries_[place];
}

// One that nobody speaks for. REQUIRES: not known, and has_room().
ProducerTable::Entry& ProducerTable::add(std::uint64_t producer) noexcept {
  WINDHOVER_CHECK(has_room());
  const bool full = size() == capacity_;
  Entry& entry = entries_[full ? oldest_ : size()];
  if (full) {
    forget(entry);
    ++forgotten_;
  } else {
    ++size_;
  }
  entry.producer = producer;
  slots_[slot_of(producer)] = place(entry);
  if (is_passing(producer)) {
    fall_silent(entry);
  } else {
    ++lasting_;
  }
  return entry;
}

// What was pushed on by it moves back, so that every search that passes a slot finds it taken.
void ProducerTable::forget(Entry& entry) noexcept {
  speak_again(entry);
  const std::size_t mask = slots_.size() - 1;
  std::size_t hole = slot_of(entry.producer);
  for (std::size_t i = (hole + 1) & mask; slots_[i] != kNone; i = (i + 1) & mask) {
    const std::size_t wanted = home(entries_[slots_[i]].producer);
    if (((i - wanted) & mask) < ((i - hole) & mask)) continue;
    slots_[hole] = slots_[i];
    hole = i;
  }
  slots_[hole] = kNone;
  entry = {};
}

void ProducerTable::fall_silent(Entry& entry) noexcept {
  entry.older = newest_;
  entry.newer = kNone;
  (newest_ == kNone ? oldest_ : entries_[newest_].newer) = place(entry);
  newest_ = place(entry);
}

void ProducerTable::speak_again(Entry& entry) noexcept {
  (entry.older == kNone ? oldest_ : entries_[entry.older].newer) = entry.newer;
  (entry.newer == kNone ? newest_ : entries_[entry.newer].older) = entry.older;
}

// The claim that has been silent longest. REQUIRES: there is one.
std::size_t ProducerTable::stalest(const ProducerClaims& claims) const noexcept {
  const auto begin = claims.held_.begin();
  const auto at =
      std::min_element(begin, begin + static_cast<std::ptrdiff_t>(claims.size_),
                       [](const Entry* a, const Entry* b) { return a->heard_ns < b->heard_ns; });
  return static_cast<std::size_t>(at - begin);
}

Refusal ProducerTable::may_speak(Entry& entry, std::uint64_t producer, ProducerClaims& claims,
                                 std::int64_t now_ns) const noexcept {
  if (entry.owner == &claims) {
    entry.heard_ns = now_ns;
    return Refusal::kNone;
  }
  if (!is_passing(producer) && live(entry, now_ns)) return Refusal::kProducerBusy;
  if (entry.producer == 0 && !may_come(producer)) return Refusal::kTableFull;
  if (claims.size_ == rules_.claims_per_connection &&
      !silent(*claims.held_[stalest(claims)], now_ns)) {
    return Refusal::kTooManyProducers;
  }
  return Refusal::kNone;
}

ProducerTable::Spoken ProducerTable::judged(Entry& known, std::uint64_t producer,
                                            ProducerClaims& claims, std::int64_t now_ns) noexcept {
  const bool forgot = known.producer == 0 && size() == capacity_;
  Entry& entry = known.producer == 0 ? add(producer) : known;
  entry.heard_ns = now_ns;
  if (entry.owner == &claims) return {entry};
  const bool passing = is_passing(producer);
  const bool taken_over = entry.owner != nullptr && !passing;
  if (entry.owner != nullptr) give_up(entry);
  if (passing) speak_again(entry);
  if (claims.size_ == rules_.claims_per_connection) give_up(claims, stalest(claims));
  claims.held_[claims.size_++] = &entry;
  entry.owner = &claims;
  return {entry, taken_over, forgot};
}

bool ProducerTable::live(const Entry& entry, std::int64_t now_ns) const noexcept {
  return entry.owner != nullptr && !silent(entry, now_ns);
}

void ProducerTable::give_up(ProducerClaims& claims, std::size_t index) noexcept {
  Entry& entry = *claims.held_[index];
  entry.owner = nullptr;
  claims.held_[index] = claims.held_[--claims.size_];
  if (is_passing(entry.producer)) fall_silent(entry);
}

void ProducerTable::give_up(Entry& entry) noexcept {
  ProducerClaims& claims = *entry.owner;
  const auto at = std::find(claims.held_.begin(), claims.held_.end(), &entry);
  give_up(claims, static_cast<std::size_t>(at - claims.held_.begin()));
}

void ProducerTable::release(ProducerClaims& claims) noexcept {
  while (claims.size_ > 0) give_up(claims, claims.size_ - 1);
}

Status ProducerTable::set(std::uint64_t producer, std::uint64_t next) noexcept {
  if (producer == 0) return Status::kInvalidArgument;
  if (producer == kNoProducer) {
    forgotten_ = next;
    return Status::kOk;
  }
  Entry& known = at(producer);
  if (known.producer == 0 && !has_room()) {
    if (!is_passing(producer)) return Status::kTooLarge;
    ++forgotten_;
    return Status::kOk;
  }
  Entry& entry = known.producer == 0 ? add(producer) : known;
  entry.next = entry.durable_next = next;
  if (!is_passing(producer)) return Status::kOk;
  speak_again(entry);
  fall_silent(entry);
  return Status::kOk;
}

Status ProducerTable::visit_state(StateVisitor& visitor) noexcept {
  visitor.section("producers");
  std::size_t count = size() + (forgotten_ > 0 ? 1 : 0);
  visitor.value(count);
  if (!visitor.restores()) {
    // Not the entry's own: what a visitor does to what it is shown must not move it.
    const auto show = [&](std::uint64_t producer, std::uint64_t next) {
      visitor.values(producer, next);
    };
    if (forgotten_ > 0) show(kNoProducer, forgotten_);
    for (std::uint32_t i = oldest_; i != kNone; i = entries_[i].newer) {
      show(entries_[i].producer, entries_[i].next);
    }
    for (const Entry& entry : entries_.first(size())) {
      const bool shown = is_passing(entry.producer) && entry.owner == nullptr;
      if (!shown) show(entry.producer, entry.next);
    }
    return Status::kOk;
  }
  reset(rules_);
  Status status = Status::kOk;
  for (std::size_t i = 0; i < count && ok(status); ++i) {
    std::uint64_t producer = 0;
    std::uint64_t next = 0;
    visitor.values(producer, next);
    const bool twice = producer != 0 && at(producer).producer != 0;
    const bool misplaced = producer == kNoProducer && i > 0;
    status = producer == 0 || twice || misplaced ? Status::kMalformed : set(producer, next);
  }
  if (!ok(status)) reset(rules_);
  return status;
}

}  // namespace windhover
