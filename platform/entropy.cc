#include "windhover/platform/entropy.h"

#include <unistd.h>

namespace windhover {

bool fill_with_entropy(std::span<std::byte> bytes) noexcept {
  return ::getentropy(bytes.data(), bytes.size()) == 0;
}

}  // namespace windhover
