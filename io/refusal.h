// Why the server refuses a row, a frame, a request or a connection.
#ifndef WINDHOVER_IO_REFUSAL_H_
#define WINDHOVER_IO_REFUSAL_H_

#include <cstdint>

#include "windhover/platform/status.h"

namespace windhover {

// The numbers of windhover.v1.Reason: below 64 those of Status, from 64 on those that exist only in
// the protocol.
enum class Refusal : std::uint8_t {
  kNone = 0,
  kSequenceGap = 64,
  kProducerBusy,
  kTableFull,
  kFingerprintMismatch,
  kHelloRequired,
  kUnknownProducer,
  kTooManyProducers,
  kNotDurable,
  kUnknownModel,
};
static_assert(static_cast<int>(Status::kCount) <= 64);

constexpr Refusal refusal_of(Status status) noexcept { return static_cast<Refusal>(status); }

}  // namespace windhover

#endif  // WINDHOVER_IO_REFUSAL_H_
