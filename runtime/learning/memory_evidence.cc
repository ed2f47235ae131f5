#include "windhover/runtime/learning/memory_evidence.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace windhover {

namespace {

// Nats that a take of the usual size counts. Not enough to decide anything; after one take that was
// nothing beside it, it is.
constexpr double kUsual = 15;
static_assert(kUsual < MemoryEvidence::kEnough && kUsual * kUsual * 1.9 > 20 * 20);

}  // namespace

void MemoryEvidence::add(const std::array<double, kMost>& losses) noexcept {
  for (std::uint32_t a = 0; a < kMost; ++a) {
    for (std::uint32_t b = 0; b < kMost; ++b) {
      const double better = losses[b] - losses[a];
      // Of rows so large that both have overflowed there is nothing to compare.
      if (std::isnan(better)) continue;
      const double counted = std::clamp(better, -kMostABatch, kMostABatch);
      gained_[a][b] += counted;
      left_out_[a][b] += std::clamp(better - counted, -kMostATake, kMostATake);
    }
  }
}

double MemoryEvidence::won_by_events(std::uint32_t better, std::uint32_t worse) const noexcept {
  const double last = event_[better][worse];
  const bool over = quiet_[better][worse] >= kQuietRows;
  const double alone = over ? last : take_[better][worse];
  const double won = std::max(largest_[better][worse], alone);
  const double lost = std::max(largest_[worse][better], -alone);
  const double sum = events_[better][worse] + last;
  const double usual = recent_[better][worse];
  if (sum > 0) return std::max(0.0, sum - won + std::min(usual, 0.0));
  return std::min(0.0, sum + lost + std::max(usual, 0.0));
}

// What did not count of a take.
void MemoryEvidence::add_to_event(std::uint32_t a, std::uint32_t b, double left_out,
                                  double rows) noexcept {
  double& last = event_[a][b];
  if (left_out == 0 || rows > kTailRows) {
    quiet_[a][b] += rows;
    return;
  }
  if (quiet_[a][b] >= kQuietRows || left_out * last < 0) {
    events_[a][b] += last;
    largest_[a][b] = std::max(largest_[a][b], last);
    last = take_[a][b] = 0;
  }
  const double take = std::clamp(left_out, -kMostATake, kMostATake);
  quiet_[a][b] = rows;
  last += take;
  if (std::abs(take) > std::abs(take_[a][b])) take_[a][b] = take;
}

void MemoryEvidence::end_take(double rows) noexcept {
  const double kept = std::exp(-rows / kTailRows);
  for (Pairs* pairs : {&recent_, &event_, &take_, &events_, &largest_}) {
    for (auto& of_one : *pairs) {
      for (double& nats : of_one) nats *= kept;
    }
  }
  for (std::uint32_t a = 0; a < kMost; ++a) {
    for (std::uint32_t b = 0; b < kMost; ++b) {
      add_to_event(a, b, std::exchange(left_out_[a][b], 0.0), rows);
      const double gained = std::exchange(gained_[a][b], 0.0);
      if (gained == 0) continue;
      squares_[a][b] = kKept * squares_[a][b] + gained * gained;
      takes_[a][b] = kKept * takes_[a][b] + 1;
      const double usual = std::sqrt(squares_[a][b] / takes_[a][b]);
      const double scaled = usual > kUsual ? gained * (kUsual / usual) : gained;
      ahead_[a][b] = std::clamp(ahead_[a][b] + scaled, 0.0, kEnough);
      recent_[a][b] += scaled;
    }
  }
}

std::uint32_t MemoryEvidence::choose(std::uint32_t chosen, std::uint32_t count) const noexcept {
  // None of them is the best of all where they have beaten each other in a circle.
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
  for (Pairs* pairs :
       {&ahead_, &recent_, &event_, &take_, &quiet_, &events_, &largest_, &squares_, &takes_}) {
    for (auto& of_one : *pairs) visitor.visit(of_one.data(), kMost);
  }
}

}  // namespace windhover
