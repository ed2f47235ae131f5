// The likelihood of the rows of many columns, and its dispersion, given or learned.
#ifndef WINDHOVER_SAMPLERS_ROW_BLOCKS_ROW_NOISE_H_
#define WINDHOVER_SAMPLERS_ROW_BLOCKS_ROW_NOISE_H_

#include <cstdint>

#include "windhover/platform/state_visitor.h"
#include "windhover/samplers/config.h"
#include "windhover/samplers/row_blocks/learned_dispersion.h"
#include "windhover/samplers/row_blocks/row_columns.h"
#include "windhover/samplers/row_blocks/row_likelihood.h"
#include "windhover/samplers/row_blocks/step_block.h"

namespace windhover {

// Invariant: the likelihood is in the units that were set last, and has the dispersion that has
// been learned so far. One thread.
class RowNoise {
 public:
  RowNoise(const ModelConfig& model, std::uint32_t chains) noexcept;
  // Sets the units, and forgets what has been learned.
  void set_units(const TargetTransform& units) noexcept;

  const RowLikelihood& likelihood() const noexcept { return likelihood_; }
  const LearnedDispersion& dispersion() const noexcept { return dispersion_; }

  // Adds what the chains keep of a row that comes; sign -1 takes it out again.
  void keep(const RowColumns& row, const float* residuals, int sign) noexcept;
  // Learns from the chains, which have looked at the row in the block in a step of length `length`;
  // `rows` rows are there. REQUIRES: dispersion().learned().
  void look(const RowColumns& row, double length, const StepBlock& block,
            std::uint64_t rows) noexcept;
  // See LearnedDispersion::end().
  void end(std::uint64_t rows, double weight, double informed) noexcept;

  // Shows its numbers in the section that is open.
  void visit_state(StateVisitor& visitor) noexcept;

 private:
  double squares_of(const float* residuals) const noexcept;

  RowLikelihood likelihood_;
  LearnedDispersion dispersion_;
  double given_;  // the noise variance in units of the data; 0: learned
  std::uint32_t chains_;
};

}  // namespace windhover

#endif  // WINDHOVER_SAMPLERS_ROW_BLOCKS_ROW_NOISE_H_
