// An engine that owns its memory, for programs that measure one.
#ifndef WINDHOVER_TOOLS_OWNED_ENGINE_H_
#define WINDHOVER_TOOLS_OWNED_ENGINE_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/platform/clock.h"
#include "windhover/platform/memory.h"
#include "windhover/runtime/engine.h"
#include "windhover/tools/error.h"

namespace windhover {

class OwnedEngine {
 public:
  // `clock` outlives it; null: the real one. UserError with the library's sentence where such an
  // engine cannot be, RunError where there is no memory for it.
  explicit OwnedEngine(const EngineConfig& config, Clock* clock = nullptr)
      : block_(value_or_throw(Engine::footprint(config))),
        engine_(created(config, clock != nullptr ? *clock : clock_)) {}
  OwnedEngine(const OwnedEngine&) = delete;
  OwnedEngine& operator=(const OwnedEngine&) = delete;

  Engine* operator->() const { return engine_; }
  Engine& operator*() const { return *engine_; }
  // The whole block of the engine.
  std::span<std::byte> memory() const { return block_.bytes(); }
  std::uint64_t count(RuntimeCounter counter) const { return engine_->counters().get(counter); }

 private:
  Engine* created(const EngineConfig& config, Clock& clock) {
    if (!block_.valid()) throw RunError("no memory for an engine");
    return value_or_throw(Engine::create(config, block_.bytes(), clock));
  }

  RealClock clock_;
  MappedBlock block_;
  Engine* engine_;
};

// A batch of `rows` dense rows, each of `columns` numbers, one after the other, and their targets.
// Copies nothing.
inline ObservationBatch dense_batch(const double* features, const double* targets,
                                    std::uint64_t rows, std::uint64_t columns) {
  ObservationBatch batch;
  batch.rows = rows;
  batch.features = reinterpret_cast<const std::byte*>(features);
  batch.feature_values = rows * columns;
  batch.targets = reinterpret_cast<const std::byte*>(targets);
  return batch;
}

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_OWNED_ENGINE_H_
