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

// A few places, each a reader that keeps one snapshot pinned. Whoever begins gets the newest
// snapshot on the place that has been out of use for longest, the one it had itself before others.
// A place is in use until its client has had the last page, and for kKeptNs after each page before
// that: whoever asks for the next within that time never finds it gone. Where all are in use
// whoever begins shares the snapshot that was pinned last, and so do those who begin while it is
// still the newest. One endpoint and model; one thread.
class PagingTable {
 public:
  static constexpr std::size_t kMost = 4;
  static constexpr std::int64_t kKeptNs = 10'000'000'000;

  // Before use. REQUIRES: fewer than kMost have been added.
  void add(Reader reader) noexcept { places_[count_++].reader = reader; }

  // Draws `first` to `first + count` of this snapshot, or of whichever it is for one who begins
  // (0); `last`: there are none behind them. kUnavailable: it is not kept any more.
  struct Page {
    std::uint64_t snapshot = 0;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    bool last = false;
  };
  Status draws(const Page& page, const void* asker, std::int64_t now_ns, std::span<double> out,
               Provenance& provenance) noexcept;

  // The client is gone, and pages on no more.
  void leave(const void* asker) noexcept;

 private:
  struct Place {
    std::optional<Reader> reader;
    std::uint64_t snapshot = 0;   // 0: none is pinned
    const void* owner = nullptr;  // who began
    bool shared = false;          // others have had pages of it
    std::int64_t pinned_ns = 0;
    std::int64_t in_use_ns = 0;  // when there was a page that was not the last; 0: out of use
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
