#include "windhover/io/producer_table.h"

#include <algorithm>
#include <bit>
#include <memory>

#include "windhover/platform/check.h"

namespace windhover {

ProducerTable::ProducerTable(Arena& arena, std::size_t capacity, std::size_t identities) noexcept
    : capacity_(capacity),
      entries_(arena.allocate<Entry>(capacity)),
      slots_(arena.allocate<ProducerPlace>(std::bit_ceil(2 * capacity))),
      shares_(arena, std::min(capacity, identities)) {}

void ProducerTable::reset(const Rules& rules) noexcept {
  WINDHOVER_CHECK(rules.claims_per_connection >= 1 &&
                  rules.claims_per_connection <= ProducerClaims::kMost);
  for (Entry& entry : entries_) std::construct_at(&entry);
  std::fill(slots_.begin(), slots_.end(), kNoPlace);
  shares_.reset();
  size_ = 0;
  lasting_ = 0;
  forgotten_ = 0;
  silent_ = SilenceOrder();
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
  while (slots_[i] != kNoPlace && entries_[slots_[i]].producer != producer) i = (i + 1) & mask;
  return i;
}

ProducerTable::Entry& ProducerTable::at(std::uint64_t producer) noexcept {
  WINDHOVER_CHECK(producer != 0);
  const ProducerPlace place = slots_[slot_of(producer)];
  return place == kNoPlace ? unknown_ : entries_[place];
}

std::uint32_t ProducerTable::share_of(const ProducerClaims& claims) const noexcept {
  return claims.share_ = shares_.find(claims.owner_.identity, claims.share_);
}

// Whether the identity may have one more, be it for a passing one of its own that makes room.
bool ProducerTable::share_has_room(std::uint64_t producer,
                                   const ProducerClaims& claims) const noexcept {
  const ProducerShare& share = shares_[share_of(claims)];
  const std::size_t most = most_of(claims);
  if (!is_passing(producer) && !lasting_fits(share.lasting, most)) return false;
  return share.producers < most || share.silent.oldest() != kNoPlace;
}

// For one more of the share. REQUIRES: has_room().
ProducerPlace ProducerTable::free_place(const ProducerShare& share, std::size_t most) noexcept {
  const bool own = share.producers >= most && share.silent.oldest() != kNoPlace;
  if (!own && size() < capacity_) return static_cast<ProducerPlace>(size_++);
  const ProducerPlace place = own ? share.silent.oldest() : silent_.oldest();
  forget(entries_[place]);
  ++forgotten_;
  return place;
}

ProducerTable::Entry& ProducerTable::add(std::uint64_t producer,
                                         const ProducerClaims& claims) noexcept {
  const std::uint32_t share = share_of(claims);
  shares_.take(share, claims.owner_.identity);
  return add(producer, share, most_of(claims));
}

// One that nobody speaks for. REQUIRES: not known, and has_room().
ProducerTable::Entry& ProducerTable::add(std::uint64_t producer, std::uint32_t share,
                                         std::size_t most) noexcept {
  WINDHOVER_CHECK(has_room());
  Entry& entry = entries_[free_place(shares_[share], most)];
  entry.producer = producer;
  slots_[slot_of(producer)] = place(entry);
  if (!is_passing(producer)) ++lasting_;
  count(entry, share);
  if (is_passing(producer)) fall_silent(entry);
  return entry;
}

void ProducerTable::count(Entry& entry, std::uint32_t share) noexcept {
  entry.share = share;
  ++shares_[share].producers;
  if (!is_passing(entry.producer)) ++shares_[share].lasting;
}

void ProducerTable::count_no_more(const Entry& entry) noexcept {
  --shares_[entry.share].producers;
  if (!is_passing(entry.producer)) --shares_[entry.share].lasting;
}

// Whoever speaks for it has it, if there is room in its share. REQUIRES: it is in no order of
// silence.
void ProducerTable::move(Entry& entry, const ProducerClaims& claims) noexcept {
  const std::uint32_t share = share_of(claims);
  if (share == entry.share || claims.owner_.identity == 0) return;
  const std::size_t most = most_of(claims);
  const bool fits = is_passing(entry.producer) || lasting_fits(shares_[share].lasting, most);
  if (!fits || shares_[share].producers >= most) return;
  count_no_more(entry);
  shares_.take(share, claims.owner_.identity);
  count(entry, share);
}

// What was pushed on by it moves back, so that every search that passes a slot finds it taken.
void ProducerTable::forget(Entry& entry) noexcept {
  speak_again(entry);
  const std::size_t mask = slots_.size() - 1;
  std::size_t hole = slot_of(entry.producer);
  for (std::size_t i = (hole + 1) & mask; slots_[i] != kNoPlace; i = (i + 1) & mask) {
    const std::size_t wanted = home(entries_[slots_[i]].producer);
    if (((i - wanted) & mask) < ((i - hole) & mask)) continue;
    slots_[hole] = slots_[i];
    hole = i;
  }
  slots_[hole] = kNoPlace;
  count_no_more(entry);
  entry = {};
}

void ProducerTable::fall_silent(Entry& entry) noexcept {
  silent_.add(entries_, place(entry));
  shares_[entry.share].silent.add(entries_, place(entry));
}

void ProducerTable::speak_again(Entry& entry) noexcept {
  silent_.remove(entries_, place(entry));
  shares_[entry.share].silent.remove(entries_, place(entry));
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
  if (entry.producer == 0 && !(may_come(producer) && share_has_room(producer, claims))) {
    return Refusal::kTableFull;
  }
  if (claims.size_ == rules_.claims_per_connection &&
      !silent(*claims.held_[stalest(claims)], now_ns)) {
    return Refusal::kTooManyProducers;
  }
  return Refusal::kNone;
}

std::size_t ProducerTable::limit(std::uint64_t producer,
                                 const ProducerClaims& claims) const noexcept {
  return share_has_room(producer, claims) ? capacity_ : most_of(claims);
}

ProducerTable::Spoken ProducerTable::judged(Entry& known, std::uint64_t producer,
                                            ProducerClaims& claims, std::int64_t now_ns) noexcept {
  const std::uint64_t forgotten_before = forgotten_;
  Entry& entry = known.producer == 0 ? add(producer, claims) : known;
  const bool forgot = forgotten_ > forgotten_before;
  entry.heard_ns = now_ns;
  if (entry.owner == &claims) return {entry};
  const bool passing = is_passing(producer);
  const bool taken_over = entry.owner != nullptr && !passing;
  if (entry.owner != nullptr) give_up(entry);
  if (passing) speak_again(entry);
  move(entry, claims);
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
  return set(producer, next, ProducerShares::kNobodys);
}

Status ProducerTable::set(std::uint64_t producer, std::uint64_t next,
                          std::uint32_t share) noexcept {
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
  Entry& entry = known.producer == 0 ? add(producer, share) : known;
  entry.next = entry.durable_next = next;
  if (!is_passing(producer)) return Status::kOk;
  speak_again(entry);
  fall_silent(entry);
  return Status::kOk;
}

// Each pair of numbers that a visitor is shown.
void ProducerTable::show(auto&& pair) const noexcept {
  std::uint32_t share = ProducerShares::kNobodys;
  const auto tell = [&](const Entry& entry) {
    if (entry.share != share) pair(kOwnerOfTheNext, shares_[entry.share].identity);
    share = entry.share;
    pair(entry.producer, entry.next);
  };
  if (forgotten_ > 0) pair(kNoProducer, forgotten_);
  for (ProducerPlace i = silent_.oldest(); i != kNoPlace;
       i = entries_[i].silent[SilenceOrder::kOfAll].newer) {
    tell(entries_[i]);
  }
  for (const Entry& entry : entries_.first(size())) {
    const bool shown = is_passing(entry.producer) && entry.owner == nullptr;
    if (!shown) tell(entry);
  }
}

Status ProducerTable::visit_state(StateVisitor& visitor) noexcept {
  visitor.section("producers");
  std::size_t count = size() + (forgotten_ > 0 ? 1 : 0);
  if (tells_owners() && !visitor.restores()) {
    count = 0;
    show([&](std::uint64_t, std::uint64_t) { ++count; });
  }
  visitor.value(count);
  if (!visitor.restores()) {
    // Not the entry's own: what a visitor does to what it is shown must not move it.
    show([&](std::uint64_t first, std::uint64_t second) { visitor.values(first, second); });
    return Status::kOk;
  }
  reset(rules_);
  std::uint32_t share = ProducerShares::kNobodys;
  Status status = Status::kOk;
  for (std::size_t i = 0; i < count && ok(status); ++i) {
    std::uint64_t producer = 0;
    std::uint64_t number = 0;
    visitor.values(producer, number);
    if (producer == kOwnerOfTheNext && i + 1 < count) {
      share = shares_.find(number, share);
      shares_.take(share, number);
      continue;
    }
    const bool twice = producer != 0 && at(producer).producer != 0;
    const bool misplaced = producer == kNoProducer && i > 0;
    status =
        producer == 0 || twice || misplaced ? Status::kMalformed : set(producer, number, share);
  }
  if (!ok(status)) reset(rules_);
  return status;
}

}  // namespace windhover
