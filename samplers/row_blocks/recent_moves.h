// What the last moves of all chains have been like.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_RECENT_MOVES_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_RECENT_MOVES_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "windhover/platform/state_visitor.h"
#include "windhover/samplers/row_blocks/chain_kernels.h"

namespace windhover {

// Means over the last thousand or so moves of all chains together, and of the virial over half a
// pass. While there are fewer moves all count alike.
//
// Invariant: spread_ratio() is NaN or a ratio of means over the same moves. One thread.
class RecentMoves {
 public:
  static constexpr std::uint64_t kLeastMoves = 1000;  // of all chains together
  // The chains' curvature of a row is updated every so many moves, because it hardly changes.
  static constexpr std::uint64_t kMovesACurvature = 4;

  explicit RecentMoves(std::uint32_t chains) noexcept : chains_(chains) {}
  void reset() noexcept { *this = RecentMoves(chains_); }

  // All chains have moved on a row; `square` is the mean square by which its residual has changed
  // since they last looked at it.
  void add(double square) noexcept {
    moves_ += chains_;
    change_ += newest() * (square - change_);
  }
  bool curvature_due() const noexcept { return moves_ / chains_ % kMovesACurvature == 0; }
  void add_curvature(double curvature) noexcept {
    const double part = std::min(0.5, static_cast<double>(kMovesACurvature) * newest());
    mean_curvature_ += part * (curvature - mean_curvature_);
  }
  // `apart` is ChainSums::apart, `weights` the sum of its weights in each chain, and `rows` how
  // many rows are there.
  void add_virial(double apart, double dispersion, double weights, std::uint64_t rows) noexcept {
    const double chains = chains_;
    const double most = newest();
    const double least = std::min(most, chains / static_cast<double>(moves_));
    const double part = std::clamp(2.0 / static_cast<double>(rows), least, most);
    virial_ += part * (apart / (chains * dispersion) - virial_);
    const double compared = weights * compared_chains() / std::max(chains - 1, 1.0);
    virial_weights_ += part * (compared - virial_weights_);
  }

  std::uint64_t moves() const noexcept { return moves_; }  // of all chains, in all
  double change() const noexcept { return change_; }       // mean of (r - r')^2
  double mean_curvature() const noexcept { return mean_curvature_; }
  // The variance of the chains over that of the law they move towards; above 1 they have still to
  // contract. It is E (theta_j - theta'_j) F_j over its value in that law, averaged over the
  // columns of recent moves with the weight of what rows know of each. For two chains theta and
  // theta' that value is 1 where they are independent draws from exp(-U) (the
  // fluctuation-dissipation relation: Yaida 2019), and K / (K - 1) where the normals of K chains
  // sum to 0. NaN for a single chain, and before kLeastMoves moves.
  double spread_ratio() const noexcept {
    const bool known = moves_ >= kLeastMoves && chains_ > 1 && virial_weights_ > 0;
    return known ? virial_ / virial_weights_ : std::numeric_limits<double>::quiet_NaN();
  }

  // Shows its numbers in the section that is open.
  void visit_state(StateVisitor& visitor) noexcept {
    visitor.values(moves_, change_, mean_curvature_, virial_, virial_weights_);
  }

 private:
  static constexpr double kNewestMove = 1e-3;  // how fast means follow

  // The weight of the newest move of all chains in the means.
  double newest() const noexcept {
    return std::min(1.0, chains_ * std::max(kNewestMove, 1.0 / static_cast<double>(moves_)));
  }
  // How many chains have another one to be compared with.
  double compared_chains() const noexcept {
    return chains_ % kChainLanes == 1 ? chains_ - 1 : chains_;
  }

  std::uint32_t chains_;
  std::uint64_t moves_ = 0;
  double change_ = 0;
  double mean_curvature_ = 0.25;
  double virial_ = 0;
  double virial_weights_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_RECENT_MOVES_H_
