#include "windhover/io/descriptors.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace windhover {

void reserve_descriptors(std::size_t more) noexcept {
  const int first_free = ::eventfd(0, EFD_CLOEXEC);
  if (first_free < 0) return;
  const int last = ::fcntl(first_free, F_DUPFD_CLOEXEC, first_free + static_cast<int>(more));
  if (last >= 0) ::close(last);
  ::close(first_free);
}

}  // namespace windhover
