// Which readers of an engine have been handed out.
#ifndef WINDHOVER_RUNTIME_READER_PLACES_H_
#define WINDHOVER_RUNTIME_READER_PLACES_H_

#include <atomic>
#include <cstdint>
#include <optional>

namespace windhover {

// Readers that predict have the places 0 to `readers` - 1, those that only watch the places after
// that.
//
// Invariant: no place is handed out twice. Any thread.
class ReaderPlaces {
 public:
  ReaderPlaces(std::uint32_t readers, std::uint32_t watchers) noexcept
      : readers_(readers), watchers_(watchers) {}

  bool predicts(std::uint32_t place) const noexcept { return place < readers_; }

  // Takes a reader's place; nothing: all are taken.
  std::optional<std::uint32_t> take_reader() noexcept { return take(readers_taken_, readers_); }
  // Takes a watcher's place, or a reader's where none is left.
  std::optional<std::uint32_t> take_watcher() noexcept {
    const std::optional<std::uint32_t> place = take(watchers_taken_, watchers_);
    return place ? readers_ + *place : take_reader();
  }

  // Takes the places that are taken in `others`. REQUIRES: both have the same numbers of places,
  // and no other thread takes one meanwhile.
  void take_as(const ReaderPlaces& others) noexcept {
    readers_taken_.store(others.readers_taken_.load(std::memory_order_relaxed),
                         std::memory_order_relaxed);
    watchers_taken_.store(others.watchers_taken_.load(std::memory_order_relaxed),
                          std::memory_order_relaxed);
  }

 private:
  using Taken = std::atomic<std::uint32_t>;

  static std::optional<std::uint32_t> take(Taken& taken, std::uint32_t most) noexcept {
    const std::uint32_t place = taken.fetch_add(1, std::memory_order_relaxed);
    if (place < most) return place;
    taken.fetch_sub(1, std::memory_order_relaxed);
    return std::nullopt;
  }

  std::uint32_t readers_;
  std::uint32_t watchers_;
  Taken readers_taken_{0};
  Taken watchers_taken_{0};
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_READER_PLACES_H_
