#include "windhover/tools/daemon/learners.h"

#include <algorithm>

namespace windhover {

Status Learners::start(std::span<Engine* const> engines, std::uint32_t threads,
                       const ProcessOptions& options, std::size_t spare) noexcept {
  if (engines.size() + spare == 1) {
    return one_.start(*engines.front(), options.learner, options.learner_idle);
  }
  return several_.start(engines, threads, options.learner, options.learner_idle, spare);
}

void Learners::stop() noexcept {
  one_.stop();
  several_.stop();
}

std::int64_t Learners::beat_ns() const noexcept {
  return std::max(one_.beat_ns(), several_.beat_ns());
}

}  // namespace windhover
