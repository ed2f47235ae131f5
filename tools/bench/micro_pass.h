#ifndef WINDHOVER_TOOLS_BENCH_MICRO_PASS_H_
#define WINDHOVER_TOOLS_BENCH_MICRO_PASS_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "windhover/runtime/learning/estimator.h"
#include "windhover/tools/bench/micro_stream.h"
#include "windhover/tools/error.h"
#include "windhover/tools/placed.h"

namespace windhover {

inline constexpr std::uint64_t kPassRows = 4096;

// A linear model, dense rows of it, and the estimates of a learner after one pass over them.
class Pass {
 public:
  explicit Pass(std::uint32_t dimension, bool learn_prior_precision = false)
      : config_(with_defaults([&] {
          EngineConfig config = MicroStream::config("linear", dimension);
          config.model.learn_prior_precision = learn_prior_precision;
          return config;
        }())),
        layout_(config_.model),
        rows_(kPassRows * layout_.stride() * sizeof(double)),
        model_block_(std::size_t{1} << 24),
        model_arena_(model_block_.bytes()),
        model_(find_model("linear")->make(model_arena_, config_.model)),
        estimator_(config_),
        slots_(kPassRows) {
    find_model("linear")->reset(*model_);
    auto* rows = reinterpret_cast<double*>(rows_.bytes().data());
    for (std::uint64_t i = 0; i < kPassRows; ++i) {
      fill_normals(1, {i}, {rows + i * layout_.stride(), layout_.features() + std::size_t{1}});
    }
    std::iota(slots_.begin(), slots_.end(), 0U);
    estimator_->reset(config_);
    (void)estimator_->refresh(1.0, 1.0);  // the prior
    estimator_->begin_pass();
    estimator_->sums().pass().add(*model_, batch(0, kPassRows), nullptr);
    estimator_->noise().measured().add_rows(*model_, batch(0, kPassRows),
                                            estimator_->laplace().mode());
    estimator_->sums().end_pass();
    (void)estimator_->noise().end_pass(estimator_->done(), 1.0, nullptr);
    refresh();
  }

  RowBatch batch(std::uint64_t first, std::size_t count) const {
    return {reinterpret_cast<const double*>(rows_.bytes().data()), slots_.data() + first, count};
  }
  void refresh() {
    if (!ok(estimator_->refresh(kPassRows, 1.0))) throw RunError("no estimates");
  }

  const EngineConfig& config() const { return config_; }
  const RowLayout& layout() const { return layout_; }
  Model& model() { return *model_; }
  Estimator& estimator() { return *estimator_; }
  // A point as far from the mean as a draw is.
  std::vector<double> draw() {
    std::vector<double> theta(config_.model.dimension());
    fill_normals(2, {1}, theta);
    estimator_->laplace().factor().solve_root(theta.data());
    for (std::size_t j = 0; j < theta.size(); ++j) {
      theta[j] =
          estimator_->laplace().mean()[j] + theta[j] / std::sqrt(static_cast<double>(kPassRows));
    }
    return theta;
  }

 private:
  EngineConfig config_;
  RowLayout layout_;
  MappedBlock rows_;
  MappedBlock model_block_;
  Arena model_arena_;
  Model* model_;
  Placed<Estimator> estimator_;
  std::vector<std::uint32_t> slots_;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_MICRO_PASS_H_
