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
