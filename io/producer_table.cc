#include "windhover/io/producer_table.h"

#include <algorithm>
#include <bit>
#include <memory>

#include "windhover/platform/check.h"

namespace windhover {

ProducerTable::ProducerTable(Arena& arena, std::size_t capacity) noexcept
    : capacity_(capacity), slots_(arena.allocate<Entry>(std::bit_ceil(2 * capacity))) {}

void ProducerTable::reset(const Rules& rules) noexcept {
  WINDHOVER_CHECK(rules.claims_per_connection >= 1 &&
                  rules.claims_per_connection <= ProducerClaims::kMost);
  for (Entry& slot : slots_) std::construct_at(&slot);
  size_ = 0;
  rules_ = rules;
  rules_.seed |= 1;
  shift_ = 64 - std::countr_zero(slots_.size());
}

// Multiplication by a random odd number and the product's highest bits: no two producers that were
// chosen without knowing it meet more often than by chance.
ProducerTable::Entry& ProducerTable::at(std::uint64_t producer) noexcept {
  WINDHOVER_CHECK(producer != 0);
  const std::size_t mask = slots_.size() - 1;
  auto i = static_cast<std::size_t>((producer * rules_.seed) >> shift_);
  while (slots_[i].producer != 0 && slots_[i].producer != producer) i = (i + 1) & mask;
  return slots_[i];
}

// The claim that has been silent longest. REQUIRES: there is one.
std::size_t ProducerTable::stalest(const ProducerClaims& claims) const noexcept {
  const auto begin = claims.held_.begin();
  const auto at =
      std::min_element(begin, begin + static_cast<std::ptrdiff_t>(claims.size_),
                       [](const Entry* a, const Entry* b) { return a->heard_ns < b->heard_ns; });
  return static_cast<std::size_t>(at - begin);
}

Refusal ProducerTable::may_speak(Entry& entry, ProducerClaims& claims,
                                 std::int64_t now_ns) const noexcept {
  if (entry.owner == &claims) {
    entry.heard_ns = now_ns;
    return Refusal::kNone;
  }
  if (live(entry, now_ns)) return Refusal::kProducerBusy;
  if (entry.producer == 0 && size() == capacity_) return Refusal::kTableFull;
  if (claims.size_ == rules_.claims_per_connection &&
      !silent(*claims.held_[stalest(claims)], now_ns)) {
    return Refusal::kTooManyProducers;
  }
  return Refusal::kNone;
}

bool ProducerTable::judged(Entry& entry, std::uint64_t producer, std::uint64_t next,
                           ProducerClaims& claims, std::int64_t now_ns) noexcept {
  if (entry.producer == 0) {
    entry.producer = producer;
    ++size_;
  }
  entry.next = next;
  entry.heard_ns = now_ns;
  if (entry.owner == &claims) return false;
  const bool taken_over = entry.owner != nullptr;
  if (taken_over) give_up(entry);
  if (claims.size_ == rules_.claims_per_connection) give_up(claims, stalest(claims));
  claims.held_[claims.size_++] = &entry;
  entry.owner = &claims;
  return taken_over;
}

bool ProducerTable::live(const Entry& entry, std::int64_t now_ns) const noexcept {
  return entry.owner != nullptr && !silent(entry, now_ns);
}

void ProducerTable::give_up(ProducerClaims& claims, std::size_t index) noexcept {
  claims.held_[index]->owner = nullptr;
  claims.held_[index] = claims.held_[--claims.size_];
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
  Entry& entry = at(producer);
  if (entry.producer == 0) {
    if (size() == capacity_) return Status::kTooLarge;
    entry.producer = producer;
    ++size_;
  }
  entry.next = entry.durable_next = next;
  return Status::kOk;
}

Status ProducerTable::visit_state(StateVisitor& visitor) noexcept {
  visitor.section("producers");
  std::size_t count = size();
  visitor.value(count);
  if (!visitor.restores()) {
    for (Entry& entry : slots_) {
      // Not the entry's own: what a visitor does to what it is shown must not move it.
      std::uint64_t producer = entry.producer;
      std::uint64_t next = entry.next;
      if (producer != 0) visitor.values(producer, next);
    }
    return Status::kOk;
  }
  reset(rules_);
  Status status = count > capacity_ ? Status::kTooLarge : Status::kOk;
  for (std::size_t i = 0; i < count && ok(status); ++i) {
    std::uint64_t producer = 0;
    std::uint64_t next = 0;
    visitor.values(producer, next);
    const bool twice = producer != 0 && at(producer).producer != 0;
    status = twice || producer == 0 ? Status::kMalformed : set(producer, next);
  }
  if (!ok(status)) reset(rules_);
  return status;
}

}  // namespace windhover
