// Stochastic gradient Fisher scoring with a block-diagonal Fisher matrix: Ahn, Korattikara and
// Welling 2012, section 4. It is as in fisher_scoring.h, with the blocks of C along its diagonal in
// place of C. A block is block_size neighbouring parameters; the last one is what is left.
//
// A block whose gradient noise is too small for a stable step gets (S/n) A added. Where blocks are
// stable one by one but not together, all rates are scaled down.
#ifndef WINDHOVER_SAMPLERS_FISHER_SCORING_BLOCK_FISHER_SCORING_H_
#define WINDHOVER_SAMPLERS_FISHER_SCORING_BLOCK_FISHER_SCORING_H_

#include "windhover/samplers/constant_rate/preconditioner.h"
#include "windhover/samplers/sampler.h"

namespace windhover {

// Memory 2 D b + 4 D + 2 b^2 doubles with b = block_size, at most D.
class BlockFisherScoring {
 public:
  static constexpr std::string_view kName = "sgfs-block";
  static Result<bool> check(const SamplerConfig& config) noexcept;
  BlockFisherScoring(Arena& arena, const SamplerConfig& config, std::uint32_t dimension) noexcept;
  // Complexity O(D b^2) and up to some 700 products with the curvature, O(D^2) each.
  Status refresh(const Estimates& estimates) noexcept;
  // Complexity 2 D b.
  Status step(Chain& chain, GradientSource& gradient, Rng& rng) const noexcept;
  void law(double* h, double* injected) const noexcept;
  void apply_law(double* vector, double* noise, double* room) const noexcept;
  double relaxation() const noexcept { return relaxation_; }
  void visit_state(StateVisitor& visitor) noexcept {
    const auto numbers = static_cast<std::size_t>(blocks_ * block_size_ * block_size_);
    visitor.values(noisy_, relaxation_);
    visitor.visit(inverses_, numbers);
    visitor.visit(roots_, numbers);
  }

 private:
  // The parameters of a block, and the room it takes: block_size_ squared.
  Eigen::Index first(Eigen::Index block) const noexcept { return block * block_size_; }
  Eigen::Index width(Eigen::Index block) const noexcept;
  double* inverse(Eigen::Index block) const noexcept {
    return inverses_ + block * block_size_ * block_size_;
  }
  double* root(Eigen::Index block) const noexcept {
    return roots_ + block * block_size_ * block_size_;
  }
  Status factorize(const Estimates& estimates, Eigen::Index block, double scale) noexcept;
  // vector <- H vector; `room` holds a block's numbers.
  void apply(double* vector, double* room) const noexcept;

  Eigen::Index dimension_;
  Eigen::Index block_size_;
  Eigen::Index blocks_;
  double noise_scale_;
  bool noisy_ = false;
  double relaxation_ = 1;
  double* inverses_;  // of H
  double* roots_;     // of the injected noise
  double* scratch_;   // a block
  double* work_;      // 4 D
  Factor factor_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_FISHER_SCORING_BLOCK_FISHER_SCORING_H_
