// An engine over a whole file, all rows before the first step: what `windhover fit` and the
// experiments run.
#ifndef WINDHOVER_TOOLS_FIT_WHOLE_FILE_H_
#define WINDHOVER_TOOLS_FIT_WHOLE_FILE_H_

#include <cstdint>
#include <functional>

#include "windhover/runtime/engine.h"
#include "windhover/tools/data/dataset.h"

namespace windhover {

// Room for all rows of `data` before the learner runs at all, and a replay ratio without a target.
void expect_all(EngineConfig& config, const Dataset& data);

// Observes every row. UserError names the first row that is refused.
void observe_all(Engine& engine, const Dataset& data);

// Polls until the chains have taken `steps` together since the engine's creation; `tell` hears now
// and then how many that are. RunError when the learner rests before that. What is then served is
// of the last step.
void run_until(Engine& engine, std::uint64_t steps,
               const std::function<void(std::uint64_t)>& tell = {});

// Polls until nothing is left to do: without a window the learner ends with the rows.
void run_dry(Engine& engine);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_FIT_WHOLE_FILE_H_
