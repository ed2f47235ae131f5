// For a program without a counter of its own: what libwindhover_heap_counter.so counts, where
// somebody has preloaded it.
#include <dlfcn.h>

#include "windhover/tools/heap/heap_counter.h"

namespace windhover {

std::optional<std::uint64_t> heap_calls() noexcept {
  using Function = std::uint64_t (*)() noexcept;
  static const auto counted =
      reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, "windhover_heap_calls"));
  if (counted == nullptr) return std::nullopt;
  return counted();
}

std::uint64_t thread_heap_calls() noexcept {
  using Function = std::uint64_t (*)() noexcept;
  static const auto counted =
      reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, "windhover_thread_heap_calls"));
  return counted == nullptr ? 0 : counted();
}

}  // namespace windhover
