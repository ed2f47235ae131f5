// A model and a sampler over synthetic rows, without an engine: what a move of one chain costs, and
// its parts.
#ifndef WINDHOVER_TOOLS_BENCH_SAMPLER_RIG_H_
#define WINDHOVER_TOOLS_BENCH_SAMPLER_RIG_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "windhover/platform/arena.h"
#include "windhover/platform/memory.h"
#include "windhover/samplers/registry.h"

namespace windhover {

struct RigConfig {
  std::string_view model = "linear";
  std::string_view sampler = "calibrated";
  // Features and intercept: the number of parameters of a generalized linear model; others have
  // more.
  std::uint32_t dimension = 12;
  std::uint32_t nonzeros = 0;  // sparse rows of so many; 0: dense
  std::uint32_t minibatch_size = 100;
  std::uint64_t rows = 4898;  // minibatches are drawn from all of them
  std::uint32_t rank = 4;
  double n = 100'000;  // rows that the posterior stands on
  // C is this times A. 1: the model is right, and `calibrated` needs no noise but that of
  // minibatches as long as n / S > 5; it injects normals where (n / S) C - 5 A is not positive
  // definite.
  double gradient_noise = 1;
};

// Features are standard normal, those of sparse rows ones, one in each of as many equal parts; A is
// that of dense rows, with a little correlation. Eight chains move in turn. All memory is aligned
// as an engine's is, and move() and the parts take none. RunError when the registry refuses the
// configuration.
class SamplerRig {
 public:
  static constexpr std::uint16_t kChains = 8;

  explicit SamplerRig(const RigConfig& config);
  SamplerRig(const SamplerRig&) = delete;
  SamplerRig& operator=(const SamplerRig&) = delete;

  // One move of the next chain: indices, gradient, preconditioner, and noise where the sampler
  // injects any.
  void move();
  // The gradient alone, on minibatches whose indices were drawn in advance.
  void gradient();
  // The sums for the noise covariance and for the curvature over one minibatch.
  void add_noise();
  void add_curvature();
  void refresh(Interlude* interlude = nullptr);
  // Processor time of the newest refresh; the first one is the constructor's.
  double refresh_seconds() const { return refresh_seconds_; }

  // Whether a move draws normals, by the sampler's law. REQUIRES: the sampler has one.
  bool injects_noise() const;

  std::size_t window_bytes() const { return config_.rows * layout_.stride() * sizeof(double); }
  std::uint32_t parameters() const { return parameters_; }

 private:
  void make(Arena& arena);
  void fill_rows();
  double target(double normal) const;
  RowBatch next_batch();

  RigConfig config_;
  ModelConfig model_config_;
  SamplerConfig sampler_config_;
  RowLayout layout_;
  std::uint32_t parameters_;
  MappedBlock rows_;
  MappedBlock block_;
  Model* model_ = nullptr;
  AnySampler* sampler_ = nullptr;
  std::span<double> prior_;
  std::span<double> curvature_;
  std::span<double> noise_;  // empty where C is A
  std::span<double> theta_;
  std::span<double> states_;
  std::span<double> work_;
  std::span<double> sum_;
  std::span<double> outer_;
  std::vector<Chain> chains_;
  std::vector<std::uint32_t> slots_;  // for one move
  std::vector<std::uint32_t> drawn_;  // for many moves
  std::size_t next_slot_ = 0;
  std::uint64_t moves_ = 0;
  double refresh_seconds_ = 0;
  Estimates estimates_;
  GradientSource gradient_;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_SAMPLER_RIG_H_
