// Where bytes go to, and where they come from.
#ifndef WINDHOVER_RUNTIME_CHECKPOINT_SINK_H_
#define WINDHOVER_RUNTIME_CHECKPOINT_SINK_H_

#include <cstddef>
#include <span>

#include "windhover/platform/status.h"

namespace windhover {

// Takes bytes one after another. One thread at a time.
class Sink {
 public:
  // Takes all of `bytes`, or returns a status other than kOk: then any part may have been taken,
  // and it is not called again.
  virtual Status write(std::span<const std::byte> bytes) noexcept = 0;

 protected:
  ~Sink() = default;
};

// Gives bytes one after another. One thread at a time.
class Source {
 public:
  // Fills all of `bytes`, or returns a status other than kOk (kClosed if fewer are left): then what
  // `bytes` holds is not defined, and it is not called again.
  virtual Status read(std::span<std::byte> bytes) noexcept = 0;

 protected:
  ~Source() = default;
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_CHECKPOINT_SINK_H_
