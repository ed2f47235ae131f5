#include "windhover/io/producer_shares.h"

#include <memory>

namespace windhover {

void SilenceOrder::add(std::span<ProducerEntry> entries, ProducerPlace place) noexcept {
  entries[place].silent[kind_] = {newest_, kNoPlace};
  (newest_ == kNoPlace ? oldest_ : entries[newest_].silent[kind_].newer) = place;
  newest_ = place;
}

void SilenceOrder::remove(std::span<ProducerEntry> entries, ProducerPlace place) noexcept {
  const auto [older, newer] = entries[place].silent[kind_];
  (older == kNoPlace ? oldest_ : entries[older].silent[kind_].newer) = newer;
  (newer == kNoPlace ? newest_ : entries[newer].silent[kind_].older) = older;
}

void ProducerShares::reset() noexcept {
  for (ProducerShare& share : shares_) std::construct_at(&share);
  shares_[kOthers].identity = kOtherIdentities;
  silent_ = SilenceOrder();
}

void ProducerShares::count(ProducerEntry& entry, std::uint32_t share) noexcept {
  entry.share = share;
  ++shares_[share].producers;
  if (!is_passing(entry.producer)) ++shares_[share].lasting;
}

void ProducerShares::count_no_more(const ProducerEntry& entry) noexcept {
  --shares_[entry.share].producers;
  if (!is_passing(entry.producer)) --shares_[entry.share].lasting;
}

void ProducerShares::fall_silent(const ProducerEntry& entry) noexcept {
  silent_.add(entries_, place(entry));
  shares_[entry.share].silent.add(entries_, place(entry));
}

void ProducerShares::speak_again(const ProducerEntry& entry) noexcept {
  silent_.remove(entries_, place(entry));
  shares_[entry.share].silent.remove(entries_, place(entry));
}

std::uint32_t ProducerShares::find(std::uint64_t identity, std::uint32_t hint) const noexcept {
  if (shares_[hint].identity == identity) return hint;
  std::uint32_t free = kOthers;
  for (std::uint32_t i = 0; i < shares_.size(); ++i) {
    if (shares_[i].identity == identity) return i;
    if (i > kOthers && free == kOthers && shares_[i].producers == 0) free = i;
  }
  return free;
}

ProducerShare& ProducerShares::take(std::uint32_t share, std::uint64_t identity) noexcept {
  if (share > kOthers) shares_[share].identity = identity;
  return shares_[share];
}

}  // namespace windhover
