#include "windhover/tools/fit/whole_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "windhover/tools/error.h"

namespace windhover {
namespace {

constexpr std::uint32_t kFrameRows = 4096;
constexpr int kRoundsAPoll = 256;
constexpr int kIdlePollsAllowed = 10'000;

}  // namespace

void expect_all(EngineConfig& config, const Dataset& data) {
  config.max_frame_rows = kFrameRows;
  config.window_slack = std::max<std::uint64_t>(data.rows(), 2 * kFrameRows);
  config.draws_per_observation = 0;
  config.max_readers = 1;
}

void observe_all(Engine& engine, const Dataset& data) {
  std::array<RefusedRow, 1> refused;
  for (std::size_t first = 0; first < data.rows(); first += kFrameRows) {
    ObservationBatch batch;
    batch.rows = std::min<std::size_t>(kFrameRows, data.rows() - first);
    batch.features = reinterpret_cast<const std::byte*>(data.row(first));
    batch.feature_values = batch.rows * data.columns();
    batch.targets = reinterpret_cast<const std::byte*>(data.targets.data() + first);
    if (!data.offsets.empty())
      batch.offsets = reinterpret_cast<const std::byte*>(data.offsets.data() + first);
    if (!data.weights.empty())
      batch.weights = reinterpret_cast<const std::byte*>(data.weights.data() + first);
    if (!data.trials.empty())
      batch.trials = reinterpret_cast<const std::byte*>(data.trials.data() + first);
    const ObserveResult result = engine.observe(batch, refused);
    if (!ok(result.status)) throw RunError(fmt::format("observing: {}", to_string(result.status)));
    if (result.refused > 0) {
      throw UserError(fmt::format("row {} of the file is refused: {}", first + refused[0].row + 1,
                                  to_string(refused[0].reason)));
    }
  }
}

void run_until(Engine& engine, std::uint64_t steps,
               const std::function<void(std::uint64_t)>& tell) {
  const std::uint64_t chains = engine.config().sampler.chains;
  int idle = 0;
  for (;;) {
    const std::uint64_t done = engine.counters().get(RuntimeCounter::kSteps);
    if (done >= steps) break;
    if (tell) tell(done);
    const std::uint64_t rounds = (steps - done + chains - 1) / chains;
    const int worked = engine.poll(static_cast<int>(std::min<std::uint64_t>(rounds, kRoundsAPoll)));
    idle = worked > 0 ? 0 : idle + 1;
    if (idle > kIdlePollsAllowed) {
      throw RunError(fmt::format("the learner rests after {} of {} steps", done, steps));
    }
  }
  // Publishes the last step: the newest snapshot may be some milliseconds old, and the answer would
  // depend on the clock.
  (void)engine.poll(0);
}

void run_dry(Engine& engine) {
  while (engine.poll(kRoundsAPoll) > 0) continue;
}

}  // namespace windhover
