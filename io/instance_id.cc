#include "windhover/io/instance_id.h"

#include <cerrno>

#include <sys/random.h>

namespace windhover {

Result<std::uint64_t> random_instance_id() noexcept {
  std::uint64_t id = 0;
  while (id == 0) {
    const ssize_t got = ::getrandom(&id, sizeof id, 0);
    if (got == static_cast<ssize_t>(sizeof id)) continue;
    id = 0;
    if (got < 0 && errno != EINTR) {
      return Error{Status::kIoError, "the kernel gives no random numbers",
                   static_cast<double>(errno)};
    }
  }
  return id;
}

}  // namespace windhover
