#include "windhover/tools/daemon/chosen_sizes.h"

#include <algorithm>

#include "windhover/io/server_config.h"

namespace windhover {

void choose_slack(EngineConfig& engine, std::uint64_t waiting) {
  const EngineConfig most;
  if (engine.window_slack == 0) {
    const std::uint64_t frames = 2 * std::uint64_t{engine.max_frame_rows};
    engine.window_slack = std::clamp<std::uint64_t>(std::max(4 * engine.window_size, frames), 8192,
                                                    most.window_slack);
    engine.window_slack = std::max(engine.window_slack, waiting);
  }
  if (engine.max_frame_rows == 0) {
    const std::uint64_t half =
        std::min<std::uint64_t>(engine.window_slack / 2, most.max_frame_rows);
    engine.max_frame_rows = static_cast<std::uint32_t>(half);
  }
}

std::uint32_t producers_of_each(std::size_t models, std::uint64_t kept) {
  constexpr std::uint64_t kOfAll = 1 << 20;
  const std::uint64_t share = std::clamp<std::uint64_t>(kOfAll / std::max<std::size_t>(models, 1),
                                                        1024, ServerConfig{}.max_producers);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(kept, share, kMostProducers));
}

}  // namespace windhover
