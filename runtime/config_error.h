// The error of a setting that cannot be.
#ifndef WINDHOVER_RUNTIME_CONFIG_ERROR_H_
#define WINDHOVER_RUNTIME_CONFIG_ERROR_H_

#include "windhover/platform/status.h"

namespace windhover {

// `sentence`: a literal that names the setting and what it may be; `number`: what it holds.
inline Error invalid(const char* sentence, double number) noexcept {
  return {Status::kInvalidConfig, sentence, number};
}

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_CONFIG_ERROR_H_
