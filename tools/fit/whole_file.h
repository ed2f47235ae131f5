// Runs an engine over a whole file, all rows before the first step, for `windhover fit` and the
// experiments.
#ifndef WINDHOVER_TOOLS_FIT_WHOLE_FILE_H_
#define WINDHOVER_TOOLS_FIT_WHOLE_FILE_H_

#include <cstdint>
#include <functional>

#include "windhover/runtime/engine.h"
#include "windhover/tools/data/dataset.h"

namespace windhover {

// Gives room for all rows of `data` before the learner runs, and sets no target for the replay
// ratio.
void expect_all(EngineConfig& config, const Dataset& data);

// Observes every row. UserError names the first row that is refused.
void observe_all(Engine& engine, const Dataset& data);

// Polls until all chains together have taken `steps` since the engine's creation, then publishes
// the last step. `tell` is called now and then with the number of steps done. RunError when the
// learner rests before that.
void run_until(Engine& engine, std::uint64_t steps,
               const std::function<void(std::uint64_t)>& tell = {});

// Polls until nothing is left to do: without a window the learner ends with the rows.
void run_dry(Engine& engine);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_FIT_WHOLE_FILE_H_
