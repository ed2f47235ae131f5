#ifndef WINDHOVER_RUNTIME_CHECKPOINT_SOURCE_H_
#define WINDHOVER_RUNTIME_CHECKPOINT_SOURCE_H_

#include <cstddef>
#include <span>

#include "windhover/platform/status.h"

namespace windhover {

// Where a checkpoint's bytes come from, in order. Fills all of `bytes`, or an error: kClosed when
// fewer are left.
class Source {
 public:
  virtual Status read(std::span<std::byte> bytes) noexcept = 0;

 protected:
  ~Source() = default;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_CHECKPOINT_SOURCE_H_
