#include "windhover/io/instance_id.h"

#include <cerrno>
#include <span>

#include "windhover/platform/entropy.h"

namespace windhover {

Result<std::uint64_t> random_instance_id() noexcept {
  std::uint64_t id = 0;
  while (id == 0) {
    if (!fill_with_entropy(std::as_writable_bytes(std::span(&id, 1)))) {
      return Error{Status::kIoError, "the kernel gives no random numbers",
                   static_cast<double>(errno)};
    }
  }
  return id;
}

}  // namespace windhover
