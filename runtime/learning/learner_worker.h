// What one thread moves chains and sums rows with.
#ifndef WINDHOVER_RUNTIME_LEARNING_LEARNER_WORKER_H_
#define WINDHOVER_RUNTIME_LEARNING_LEARNER_WORKER_H_

#include <algorithm>
#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/runtime/config.h"
#include "windhover/runtime/window/age_draws.h"
#include "windhover/samplers/models/model.h"
#include "windhover/samplers/sampler.h"

namespace windhover {

// The most rows that are summed at a time; a round of the cold start sums so many.
inline constexpr std::uint64_t kWarmUpRows = 2048;

// Scratch only, so that the result of a piece of work has the same bits whichever worker does it.
// One thread.
struct LearnerWorker {
  // Takes memory; `model` and `gradient` are set later.
  LearnerWorker(Arena& arena, const EngineConfig& config) noexcept
      : indices(arena.allocate<std::uint32_t>(
            (keeps_window(config.horizon) ? 1 : 2) *
            std::max<std::size_t>(config.sampler.minibatch_size, kWarmUpRows))),
        age_draws(weighs_ages(config.horizon) ? arena.make<AgeDraws>() : nullptr),
        step_work(arena.allocate<double>(step_scratch(config.model.dimension())).data()) {}

  Model* model = nullptr;
  GradientSource gradient{nullptr, 0, nullptr};
  std::span<std::uint32_t> indices;  // of minibatches, or of rows that are summed
  AgeDraws* age_draws;               // null: all rows are drawn alike
  double* step_work;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LEARNING_LEARNER_WORKER_H_
