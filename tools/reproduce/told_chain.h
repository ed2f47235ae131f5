// A chain of a sampler by name, outside of an engine, told what Algorithm 1 of Ahn, Korattikara and
// Welling 2012 measures: the covariance of the rows' gradients within minibatches, averaged along
// the chain with weight 1 / t.
#ifndef WINDHOVER_TOOLS_REPRODUCE_TOLD_CHAIN_H_
#define WINDHOVER_TOOLS_REPRODUCE_TOLD_CHAIN_H_

#include <memory>
#include <vector>

#include "windhover/samplers/estimates/noise_covariance.h"
#include "windhover/tools/placed.h"
#include "windhover/tools/reproduce/library.h"

namespace windhover::reproduce {

enum class Measured : std::uint8_t {
  kNothing,   // samplers of a step of their own
  kDiagonal,  // of C and A
  kMatrices,  // C and A
};

// A is what the information equality makes of C: C + Lambda / n.
class ToldChain {
 public:
  // Starts at the model's own random parameters. `model` outlives this. The first estimates are of
  // `first_rows` rows there; at most `refresh_every` steps lie between two updates of them, fewer
  // at first.
  ToldChain(OwnedModel& model, const SamplerConfig& config, Measured measured,
            std::uint64_t first_rows, std::uint64_t refresh_every, std::uint64_t seed);

  const std::vector<double>& theta() const { return memory_.theta; }
  // False from the step on after which theta is not finite.
  bool step();
  // Gradients of one row, those that the estimates take included.
  std::uint64_t examples() const { return examples_; }

 private:
  void look();
  void tell();

  OwnedModel& model_;
  SamplerConfig config_;
  Measured measured_;
  std::uint64_t refresh_every_;
  std::uint64_t seed_;
  OwnedSampler sampler_;
  ChainMemory memory_;
  std::unique_ptr<Placed<NoiseCovariance>> noise_;
  std::vector<double> curvature_;
  std::vector<double> covariance_;
  std::vector<std::uint32_t> slots_;
  std::uint64_t step_ = 0;
  std::uint64_t next_look_ = 1;
  std::uint64_t examples_ = 0;
  bool sound_ = true;
};

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_TOLD_CHAIN_H_
