#ifndef WINDHOVER_RUNTIME_CHECKPOINT_SINK_H_
#define WINDHOVER_RUNTIME_CHECKPOINT_SINK_H_

#include <cstddef>
#include <span>

#include "windhover/platform/status.h"

namespace windhover {

// Where a checkpoint's bytes go, in order. All of them, or an error after which nothing more comes.
class Sink {
 public:
  virtual Status write(std::span<const std::byte> bytes) noexcept = 0;

 protected:
  ~Sink() = default;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_CHECKPOINT_SINK_H_
