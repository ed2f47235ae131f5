#ifndef WINDHOVER_PLATFORM_ARENA_H_
#define WINDHOVER_PLATFORM_ARENA_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "windhover/platform/check.h"

namespace windhover {

// Gives out one block of memory, once, in order, and never takes any back. Set-up code only; one
// thread; O(1) a call.
//
// The same code lays out and measures. Classes follow three rules:
//   - a constructor takes an Arena& and *takes memory, writes nothing into it*; reset() writes it;
//   - a constructor never dereferences what the arena gave it (making Eigen maps or spans of it is
//     fine), because a measuring arena has no block and gives null;
//   - no destructor matters.
// Then `Arena arena = Arena::measuring(); Top top(arena, config);` on the stack gives the footprint
// as arena.used(), and the same line on a real arena of exactly that many bytes succeeds.
class Arena {
 public:
  // What every allocation is aligned to unless told otherwise: a cache line, and one AVX-512
  // vector.
  static constexpr std::size_t kAlignment = 64;
  static constexpr std::size_t kMaxRegions = 32;

  struct Region {
    const char* name;
    std::size_t bytes;
  };

  // REQUIRES: is_aligned(block). The caller refuses any other block before it comes here.
  explicit Arena(std::span<std::byte> block) noexcept
      : base_(block.data()), capacity_(block.size()), measuring_(false) {
    WINDHOVER_CHECK(is_aligned(block));
  }

  // An arena without a block, which only adds up.
  static Arena measuring() noexcept { return Arena(); }

  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // `bytes` rounded up, so that another block may begin right after.
  static constexpr std::size_t aligned(std::size_t bytes) noexcept {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  static bool is_aligned(std::span<const std::byte> block) noexcept {
    return reinterpret_cast<std::uintptr_t>(block.data()) % kAlignment == 0;
  }

  // Takes uninitialised room for `count` objects of T. Measuring: null data with size `count`,
  // which must not be dereferenced. Block too small: an empty span, and exhausted() from then on.
  // REQUIRES: alignment is a power of two, at least alignof(T) and at most kAlignment.
  template <class T>
  std::span<T> allocate(std::size_t count, std::size_t alignment = kAlignment) noexcept {
    static_assert(alignof(T) <= kAlignment);
    WINDHOVER_CHECK(alignment >= alignof(T) && alignment <= kAlignment &&
                    (alignment & (alignment - 1)) == 0);
    // NOLINTNEXTLINE(bugprone-sizeof-expression): T may be a pointer.
    std::byte* memory = take(count, sizeof(T), alignment);
    if (exhausted_) return {};
    return {reinterpret_cast<T*>(memory), count};
  }

  // Takes room for one T and constructs it there. When measuring or exhausted it returns null: it
  // takes the room, and constructs a T on the stack and throws it away, so that what T's
  // constructor takes is counted too. An object made earlier is therefore passed on as a pointer,
  // which constructors only store.
  template <class T, class... Args>
  T* make(Args&&... args) noexcept {
    std::span<T> room = allocate<T>(1);
    if (room.data() != nullptr) return std::construct_at(room.data(), std::forward<Args>(args)...);
    [[maybe_unused]] T measured(std::forward<Args>(args)...);
    return nullptr;
  }

  // The same for `count` adjacent objects, each constructed from the same arguments, in order.
  template <class T, class... Args>
  std::span<T> make_array(std::size_t count, Args&... args) noexcept {
    std::span<T> room = allocate<T>(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (room.data() != nullptr) {
        std::construct_at(room.data() + i, args...);
      } else {
        [[maybe_unused]] T measured(args...);
      }
    }
    return room;
  }

  // Starts a named region; what is taken from here on counts towards it. A name used before is
  // continued. Past kMaxRegions names, the last entry collects the rest under the name "other".
  // REQUIRES: `name` is static text.
  void region(const char* name) noexcept {
    for (std::size_t i = 0; i < region_count_; ++i) {
      if (std::strcmp(regions_[i].name, name) == 0) {
        current_ = i;
        return;
      }
    }
    if (region_count_ < kMaxRegions) {
      regions_[region_count_++] = {name, 0};
    } else {
      regions_[kMaxRegions - 1].name = "other";
    }
    current_ = region_count_ - 1;
  }

  // The regions in the order in which they were first named; the bytes, padding included, add up to
  // used(). What is taken before the first region() counts as "unnamed".
  std::span<const Region> regions() const noexcept { return {regions_.data(), region_count_}; }

  // How many bytes have been taken so far, padding included: what a block aligned to kAlignment
  // must hold. It goes on counting when exhausted, and then says how much was needed. SIZE_MAX when
  // that number does not fit into a size_t.
  std::size_t used() const noexcept { return used_; }

  // Whether the block was too small for something. Always false when measuring.
  bool exhausted() const noexcept { return exhausted_; }

  bool is_measuring() const noexcept { return measuring_; }

 private:
  Arena() noexcept : base_(nullptr), capacity_(0), measuring_(true) {}

  std::byte* take(std::size_t count, std::size_t size, std::size_t alignment) noexcept {
    constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();
    const std::size_t padding = (alignment - used_ % alignment) % alignment;
    const std::size_t room = kMax - used_;
    const bool fits = padding <= room && count <= (room - padding) / size;
    const std::size_t begin = fits ? used_ + padding : kMax;
    const std::size_t end = fits ? begin + count * size : kMax;
    if (region_count_ == 0) region("unnamed");
    regions_[current_].bytes += end - used_;
    used_ = end;
    if (measuring_) return nullptr;
    if (!fits || end > capacity_) exhausted_ = true;
    return exhausted_ ? nullptr : base_ + begin;
  }

  std::byte* base_;
  std::size_t capacity_;
  bool measuring_;
  bool exhausted_ = false;
  std::size_t used_ = 0;
  std::size_t current_ = 0;
  std::size_t region_count_ = 0;
  std::array<Region, kMaxRegions> regions_;
};

}  // namespace windhover

#endif  // WINDHOVER_PLATFORM_ARENA_H_
