#include "windhover/io/producer_table.h"

#include <algorithm>
#include <memory>

#include "windhover/platform/check.h"

namespace windhover {

ProducerTable::ProducerTable(Arena& arena, std::size_t capacity, std::size_t identities) noexcept
    : capacity_(capacity),
      entries_(arena.allocate<Entry>(capacity)),
      index_(arena, entries_, capacity),
      shares_(arena, entries_, std::min(capacity, identities)) {}

void ProducerTable::reset(const Rules& rules) noexcept {
  WINDHOVER_CHECK(rules.claims_per_connection >= 1 &&
                  rules.claims_per_connection <= ProducerClaims::kMost);
  for (Entry& entry : entries_) std::construct_at(&entry);
  index_.reset(rules.seed);
  shares_.reset();
  size_ = 0;
  lasting_ = 0;
  forgotten_ = 0;
  unknown_ = {};
  rules_ = rules;
}

ProducerTable::Entry& ProducerTable::at(std::uint64_t producer) noexcept {
  WINDHOVER_CHECK(producer != 0);
  const ProducerPlace place = index_.find(producer);
  return place == kNoPlace ? unknown_ : entries_[place];
}

bool ProducerTable::share_has_room(std::uint64_t producer,
                                   const ProducerClaims& claims) const noexcept {
  const ProducerShare& share = shares_[claims.share_in(shares_)];
  return share.has_room(is_passing(producer), claims.owner_.most_of(capacity_));
}

// A place for one more producer of the share. REQUIRES: has_room().
ProducerPlace ProducerTable::free_place(const ProducerShare& share, std::size_t most) noexcept {
  const bool own = share.producers >= most && share.silent.oldest() != kNoPlace;
  if (!own && size() < capacity_) return static_cast<ProducerPlace>(size_++);
  const ProducerPlace place = own ? share.silent.oldest() : shares_.oldest();
  forget(entries_[place]);
  ++forgotten_;
  return place;
}

// Adds a producer, for which nobody speaks yet. REQUIRES: it is not known, and has_room().
ProducerTable::Entry& ProducerTable::add(std::uint64_t producer, std::uint32_t share,
                                         std::size_t most) noexcept {
  WINDHOVER_CHECK(has_room());
  Entry& entry = entries_[free_place(shares_[share], most)];
  entry.producer = producer;
  index_.add(producer, static_cast<ProducerPlace>(&entry - entries_.data()));
  if (!is_passing(producer)) ++lasting_;
  shares_.count(entry, share);
  if (is_passing(producer)) shares_.fall_silent(entry);
  return entry;
}

// Moves a producer to the share of the identity that speaks for it, if that has room. REQUIRES: it
// is in no order of silence.
void ProducerTable::move(Entry& entry, const ProducerClaims& claims) noexcept {
  const std::uint32_t share = claims.share_in(shares_);
  if (share == entry.share || claims.owner_.identity == 0) return;
  const std::size_t most = claims.owner_.most_of(capacity_);
  const bool fits = is_passing(entry.producer) || lasting_fits(shares_[share].lasting, most);
  if (!fits || shares_[share].producers >= most) return;
  shares_.count_no_more(entry);
  shares_.take(share, claims.owner_.identity);
  shares_.count(entry, share);
}

void ProducerTable::forget(Entry& entry) noexcept {
  shares_.speak_again(entry);
  index_.remove(entry.producer);
  shares_.count_no_more(entry);
  entry = {};
}

std::size_t ProducerClaims::stalest() const noexcept {
  const auto begin = held_.begin();
  const auto at = std::min_element(
      begin, begin + static_cast<std::ptrdiff_t>(size_),
      [](const ProducerEntry* a, const ProducerEntry* b) { return a->heard_ns < b->heard_ns; });
  return static_cast<std::size_t>(at - begin);
}

std::size_t ProducerClaims::index_of(const ProducerEntry& entry) const noexcept {
  const auto at = std::find(held_.begin(), held_.end(), &entry);
  return static_cast<std::size_t>(at - held_.begin());
}

Refusal ProducerTable::may_speak(Entry& entry, std::uint64_t producer, ProducerClaims& claims,
                                 std::int64_t now_ns) const noexcept {
  if (entry.owner == &claims) {
    entry.heard_ns = now_ns;
    return Refusal::kNone;
  }
  if (!is_passing(producer) && live(entry, now_ns)) return Refusal::kProducerBusy;
  if (entry.producer == 0) {
    const bool fits = has_room() && (is_passing(producer) || lasting_fits(lasting_, capacity_));
    if (!fits || !share_has_room(producer, claims)) return Refusal::kTableFull;
  }
  if (claims.size_ == rules_.claims_per_connection &&
      live(*claims.held_[claims.stalest()], now_ns)) {
    return Refusal::kTooManyProducers;
  }
  return Refusal::kNone;
}

std::size_t ProducerTable::limit(std::uint64_t producer,
                                 const ProducerClaims& claims) const noexcept {
  return share_has_room(producer, claims) ? capacity_ : claims.owner_.most_of(capacity_);
}

ProducerTable::Spoken ProducerTable::judged(Entry& known, std::uint64_t producer,
                                            ProducerClaims& claims, std::int64_t now_ns) noexcept {
  const std::uint64_t forgotten_before = forgotten_;
  const bool comes = known.producer == 0;
  if (comes) shares_.take(claims.share_in(shares_), claims.owner_.identity);
  Entry& entry = comes ? add(producer, claims.share_, claims.owner_.most_of(capacity_)) : known;
  const bool forgot = forgotten_ > forgotten_before;
  entry.heard_ns = now_ns;
  if (entry.owner == &claims) return {entry};
  const bool passing = is_passing(producer);
  const bool taken_over = entry.owner != nullptr && !passing;
  if (entry.owner != nullptr) give_up(*entry.owner, entry.owner->index_of(entry));
  if (passing) shares_.speak_again(entry);
  move(entry, claims);
  if (claims.size_ == rules_.claims_per_connection) give_up(claims, claims.stalest());
  claims.held_[claims.size_++] = &entry;
  entry.owner = &claims;
  return {entry, taken_over, forgot};
}

bool ProducerTable::live(const Entry& entry, std::int64_t now_ns) const noexcept {
  return entry.owner != nullptr && now_ns - entry.heard_ns < rules_.silence_ns;
}

void ProducerTable::give_up(ProducerClaims& claims, std::size_t index) noexcept {
  Entry& entry = *claims.held_[index];
  entry.owner = nullptr;
  claims.held_[index] = claims.held_[--claims.size_];
  if (is_passing(entry.producer)) shares_.fall_silent(entry);
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
  shares_.speak_again(entry);
  shares_.fall_silent(entry);
  return Status::kOk;
}

// Calls pair() with each pair of numbers that a visitor is shown.
void ProducerTable::show(auto&& pair) const noexcept {
  std::uint32_t share = ProducerShares::kNobodys;
  const auto tell = [&](const Entry& entry) {
    if (entry.share != share) pair(kOwnerOfTheNext, shares_[entry.share].identity);
    share = entry.share;
    pair(entry.producer, entry.next);
  };
  if (forgotten_ > 0) pair(kNoProducer, forgotten_);
  for (ProducerPlace i = shares_.oldest(); i != kNoPlace;
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
    // Copies are shown: a visitor may change what it is shown, and the entries must not change.
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
