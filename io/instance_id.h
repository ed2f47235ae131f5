// Random names, such as that of a server's history.
#ifndef WINDHOVER_IO_INSTANCE_ID_H_
#define WINDHOVER_IO_INSTANCE_ID_H_

#include <cstdint>

#include "windhover/platform/result.h"

namespace windhover {

// 64 random bits from the kernel, never 0. It waits only while the machine starts. kIoError, with
// errno, where the kernel gives none. Any thread.
Result<std::uint64_t> random_instance_id() noexcept;

}  // namespace windhover

#endif  // WINDHOVER_IO_INSTANCE_ID_H_
