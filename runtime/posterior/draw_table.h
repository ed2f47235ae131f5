// Draws of more parameters than a snapshot could copy: kept once, shared by all snapshots.
#ifndef WINDHOVER_RUNTIME_POSTERIOR_DRAW_TABLE_H_
#define WINDHOVER_RUNTIME_POSTERIOR_DRAW_TABLE_H_

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/platform/random.h"
#include "windhover/platform/state_visitor.h"

namespace windhover {

// Standard normals for a parameter, one a draw, made some at a time.
class PriorNormals {
 public:
  PriorNormals(std::uint64_t seed, std::uint32_t parameter) noexcept
      : seed_(seed), parameter_(parameter) {}
  double at(std::uint32_t m) noexcept {
    if (m / kTogether != block_) {
      block_ = m / kTogether;
      fill_normals(seed_, {parameter_, static_cast<std::uint16_t>(block_), Purpose::kPriorDraw},
                   normals_);
    }
    return normals_[m % kTogether];
  }

 private:
  static constexpr std::uint32_t kTogether = 16;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::uint64_t seed_;
  std::uint32_t parameter_;
  std::uint32_t block_ = kNone;  // of normals_
  std::array<double, kTogether> normals_;
};

// What a snapshot holds of draws: which groups, oldest first. A group is the draws that were
// retained together, one a chain. For a parameter that had met no row by then it holds NaN, and its
// draws are the prior's, made when they are asked for, the same ones every time.
struct SharedDraws {
  static constexpr std::uint32_t kMostGroups = 64;

  bool any() const noexcept { return table != nullptr; }
  // Calls use(m, value) for each draw m of a parameter. `prior_sd`: of the parameter.
  template <typename Use>
  void for_each(std::uint32_t parameter, double prior_sd, const Use& use) const noexcept {
    PriorNormals normals(seed, parameter);
    for (std::uint32_t g = 0; g < count; ++g) {
      const float* numbers = group(parameter, g);
      const std::uint32_t first = g * chains;
      if (std::isnan(*numbers)) {
        for (std::uint32_t c = 0; c < chains; ++c) use(first + c, prior_sd * normals.at(first + c));
      } else {
        for (std::uint32_t c = 0; c < chains; ++c) use(first + c, double{numbers[c]});
      }
    }
  }

  // Draw m of a parameter.
  double draw(std::uint32_t parameter, std::uint32_t m, double prior_sd) const noexcept {
    const float* numbers = group(parameter, m / chains);
    if (std::isnan(*numbers)) return prior_sd * PriorNormals(seed, parameter).at(m);
    return double{numbers[m % chains]};
  }

  const float* of(std::uint32_t parameter) const noexcept { return table + parameter * stride; }
  const float* group(std::uint32_t parameter, std::uint32_t g) const noexcept {
    return of(parameter) + std::size_t{groups[g]} * chains;
  }

  // Hints that all draws of a parameter are wanted soon.
  void prefetch(std::uint32_t parameter) const noexcept {
    constexpr std::size_t kLine = 64 / sizeof(float);
    for (std::size_t i = 0; i < stride; i += kLine) __builtin_prefetch(of(parameter) + i);
  }

  const float* table = nullptr;  // null: the snapshot has draws of its own
  std::size_t stride = 0;        // numbers a parameter
  std::uint32_t chains = 0;      // draws a group
  std::uint32_t count = 0;       // groups
  std::uint64_t seed = 0;        // of draws from the prior
  std::array<std::uint8_t, kMostGroups> groups{};
};

// Has twice as many groups as a snapshot, and two more, so that new snapshots go on while a reader
// holds one that shares no group with them. Invariant: no group is given out for writing that is
// served, or that a snapshot passed to hold() has. One thread, except that readers read groups of
// snapshots that they hold.
class DrawTable {
 public:
  // REQUIRES: `draws` is a multiple of `chains`, and at most kMostGroups times that.
  DrawTable(Arena& arena, std::uint32_t parameters, std::uint32_t chains, std::uint32_t draws,
            std::uint64_t seed) noexcept
      : parameters_(parameters), chains_(chains), count_(draws / chains), seed_(seed) {
    table_ = arena.allocate<float>(std::size_t{parameters} * stride());
  }

  std::size_t stride() const noexcept { return std::size_t{groups()} * chains_; }
  std::uint32_t count() const noexcept { return count_; }

  // Begins anew: the groups from 0 on are served, and no parameter has met a row.
  void reset() noexcept;
  // Call these two before free_group(): the second for each snapshot that a reader may hold.
  void release_all() noexcept { held_.fill(false); }
  void hold(const SharedDraws& draws) noexcept;
  // A group that is neither served nor held; -1: there is none.
  int free_group() const noexcept;
  float* group(std::uint32_t g) noexcept { return table_.data() + std::size_t{g} * chains_; }
  // Serves a group as the newest, in place of the oldest or of the one that was the newest.
  enum class InPlaceOf : std::uint8_t { kOldest, kNewest };
  void serve(std::uint32_t g, InPlaceOf leaves) noexcept;

  const SharedDraws& served() const noexcept { return served_; }

  // Shows the groups that are served, in their order; a restore puts them into the first places.
  void visit_state(StateVisitor& visitor) noexcept;

 private:
  static constexpr std::uint32_t kSpareGroups = 2;

  std::uint32_t groups() const noexcept { return 2 * count_ + kSpareGroups; }

  std::uint32_t parameters_;
  std::uint32_t chains_;
  std::uint32_t count_;
  std::uint64_t seed_;
  std::span<float> table_;  // parameters x stride
  SharedDraws served_;
  std::array<bool, 2 * SharedDraws::kMostGroups + kSpareGroups> held_{};
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_POSTERIOR_DRAW_TABLE_H_
