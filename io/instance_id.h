// The name of one life of a server's history.
#ifndef WINDHOVER_IO_INSTANCE_ID_H_
#define WINDHOVER_IO_INSTANCE_ID_H_

#include <cstdint>

#include "windhover/platform/result.h"

namespace windhover {

// 64 bits from the kernel's generator, never 0. Waits for it only while the machine starts.
// kIoError with errno where there is none. Any thread.
Result<std::uint64_t> random_instance_id() noexcept;

}  // namespace windhover

#endif  // WINDHOVER_IO_INSTANCE_ID_H_
