#include "windhover/io/paging_table.h"

#include <algorithm>

namespace windhover {

PagingTable::Place* PagingTable::find(std::uint64_t snapshot) noexcept {
  const auto found = std::ranges::find(places(), snapshot, &Place::snapshot);
  return snapshot == 0 || found == places().end() ? nullptr : &*found;
}

// The place where a new asker gets its snapshot. It has none (0) until one is pinned, unless it is
// shared.
PagingTable::Place* PagingTable::place_for(const void* asker, std::int64_t now_ns) noexcept {
  Place* out = nullptr;
  Place* youngest = nullptr;
  for (Place& place : places()) {
    const bool own = place.owner == asker && !place.shared;
    if (own) place.in_use_ns = 0;
    if (place.snapshot != 0 && (youngest == nullptr || place.pinned_ns > youngest->pinned_ns)) {
      youngest = &place;
    }
    if (in_use(place, now_ns)) continue;
    const bool before = out == nullptr || place.snapshot == 0 ||
                        (out->snapshot != 0 && place.pinned_ns < out->pinned_ns);
    if (before || own) out = &place;
    if (own) break;
  }
  if (out == nullptr) return youngest;
  out->snapshot = 0;
  out->owner = asker;
  out->shared = false;
  out->in_use_ns = 0;
  out->pinned_ns = now_ns;
  return out;
}

Status PagingTable::draws(const Page& page, const void* asker, std::int64_t now_ns,
                          std::span<double> out, Provenance& provenance) noexcept {
  Place* place = page.snapshot == 0 ? place_for(asker, now_ns) : find(page.snapshot);
  if (place == nullptr) return Status::kUnavailable;
  const Status status =
      place->reader->draws(place->snapshot, page.first, page.count, out, provenance);
  if (!ok(status)) return status;
  if (place->snapshot == 0) {
    Place* const same = find(provenance.snapshot_id);
    if (same != nullptr) {  // another place has this snapshot already: one is enough
      place->reader->release();
      place->owner = nullptr;
      place = same;
    }
    place->snapshot = provenance.snapshot_id;
  }
  place->shared = place->shared || place->owner != asker;
  if (!page.last) {
    place->in_use_ns = now_ns;
  } else if (!place->shared) {
    place->in_use_ns = 0;
  }
  return Status::kOk;
}

void PagingTable::leave(const void* asker) noexcept {
  for (Place& place : places()) {
    if (place.owner != asker) continue;
    place.owner = nullptr;
    if (!place.shared) place.in_use_ns = 0;
  }
}

}  // namespace windhover
