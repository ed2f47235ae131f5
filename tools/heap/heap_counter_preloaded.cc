// For a program without a counter of its own: the count of libwindhover_heap_counter.so, where it
// is preloaded.
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

void leave_out_of_heap_calls() noexcept {
  using Function = void (*)() noexcept;
  const auto leave_out =
      reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, "windhover_leave_out_of_heap_calls"));
  if (leave_out != nullptr) leave_out();
}

}  // namespace windhover
