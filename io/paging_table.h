// Snapshots kept while clients page through their draws.
#ifndef WINDHOVER_IO_PAGING_TABLE_H_
#define WINDHOVER_IO_PAGING_TABLE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "windhover/platform/status.h"
#include "windhover/runtime/engine.h"

namespace windhover {

// A few places, each a reader that keeps one snapshot pinned. A client that begins gets the newest
// snapshot, on a place that is not in use: its own of before if it has one, else an empty one, else
// the one that was pinned first. A place is in use for kKeptNs after each page, until its client
// has had the last: a client that asks for the next page within that time finds the snapshot. Where
// all places are in use the client shares the snapshot that was pinned last; clients that begin
// while a pinned snapshot is still the newest share it too. One endpoint and model; one thread.
class PagingTable {
 public:
  static constexpr std::size_t kMost = 4;
  static constexpr std::int64_t kKeptNs = 10'000'000'000;

  // Before use. REQUIRES: fewer than kMost have been added.
  void add(Reader reader) noexcept { places_[count_++].reader = reader; }

  // Draws `first` to `first + count` of a snapshot; 0: of the one that a client gets that begins.
  // `last`: there are none behind them. kUnavailable: the snapshot is not kept any more.
  struct Page {
    std::uint64_t snapshot = 0;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    bool last = false;
  };
  Status draws(const Page& page, const void* asker, std::int64_t now_ns, std::span<double> out,
               Provenance& provenance) noexcept;

  // The client is gone, or pages no more.
  void leave(const void* asker) noexcept;

 private:
  struct Place {
    std::optional<Reader> reader;
    std::uint64_t snapshot = 0;   // 0: none is pinned
    const void* owner = nullptr;  // who began
    bool shared = false;          // others have had pages of it
    std::int64_t pinned_ns = 0;
    std::int64_t in_use_ns = 0;  // when it last gave a page that was not the last; 0: not in use
  };
  std::span<Place> places() noexcept { return std::span(places_).first(count_); }
  static bool in_use(const Place& place, std::int64_t now_ns) noexcept {
    return place.in_use_ns != 0 && now_ns - place.in_use_ns < kKeptNs;
  }
  Place* find(std::uint64_t snapshot) noexcept;
  Place* place_for(const void* asker, std::int64_t now_ns) noexcept;

  std::array<Place, kMost> places_;
  std::size_t count_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_PAGING_TABLE_H_
