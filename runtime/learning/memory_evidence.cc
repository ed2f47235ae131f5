#include "windhover/runtime/learning/memory_evidence.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace windhover {

namespace {

// The most nats that a take of the usual size counts for: not enough to decide. A second take, far
// larger than the first, counts for sqrt(1.9) times as much, which is enough.
constexpr double kUsual = 15;
static_assert(kUsual < MemoryEvidence::kEnough && kUsual * kUsual * 1.9 > 20 * 20);

}  // namespace

void MemoryEvidence::add(std::span<const double, kMost> losses) noexcept {
  for (std::uint32_t a = 0; a < kMost; ++a) {
    for (std::uint32_t b = 0; b < kMost; ++b) {
      const double better = losses[b] - losses[a];
      // Rows so large that both have overflowed compare nothing.
      if (std::isnan(better)) continue;
      gained_[a][b] += std::clamp(better, -kMostABatch, kMostABatch);
    }
  }
}

void MemoryEvidence::end_take() noexcept {
  for (std::uint32_t a = 0; a < kMost; ++a) {
    for (std::uint32_t b = 0; b < kMost; ++b) {
      const double gained = std::exchange(gained_[a][b], 0.0);
      if (gained == 0) continue;
      squares_[a][b] = kKept * squares_[a][b] + gained * gained;
      takes_[a][b] = kKept * takes_[a][b] + 1;
      const double usual = std::sqrt(squares_[a][b] / takes_[a][b]);
      const double scaled = usual > kUsual ? gained * (kUsual / usual) : gained;
      ahead_[a][b] = std::clamp(ahead_[a][b] + scaled, 0.0, kEnough);
    }
  }
}

std::uint32_t MemoryEvidence::choose(std::uint32_t chosen, std::uint32_t count) const noexcept {
  // No forecaster is the best of all where they have beaten each other in a circle.
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint32_t best = chosen;
    for (std::uint32_t j = 0; j < count; ++j) {
      if (!has_beaten(j, chosen)) continue;
      if (best == chosen || ahead_[j][best] > ahead_[best][j]) best = j;
    }
    if (best == chosen) return chosen;
    chosen = best;
  }
  return chosen;
}

void MemoryEvidence::visit_state(StateVisitor& visitor) noexcept {
  for (Pairs* pairs : {&ahead_, &squares_, &takes_}) {
    for (auto& of_one : *pairs) visitor.visit(of_one.data(), kMost);
  }
}

}  // namespace windhover
