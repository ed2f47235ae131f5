// How a configuration that cannot be is told.
#ifndef WINDHOVER_RUNTIME_CONFIG_ERROR_H_
#define WINDHOVER_RUNTIME_CONFIG_ERROR_H_

#include "windhover/platform/status.h"

namespace windhover {

// `sentence` is a literal that names the setting and what it may be; `number` is what it holds.
inline Error invalid(const char* sentence, double number) noexcept {
  return {Status::kInvalidConfig, sentence, number};
}

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_CONFIG_ERROR_H_
