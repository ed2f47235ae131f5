#include "windhover/tools/daemon/order_refusal.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

namespace windhover {

void refuse_order(const Error& error) {
  std::string text = error.sentence;
  if (error.is_errno) {
    text += fmt::format(": {}", std::strerror(errno_of(error)));
  } else if (!std::isnan(error.number) && error.number != 0) {
    text += fmt::format("; it is {}", error.number);
  }
  throw OrderRefusal{error.status, text};
}

void check_written(int why, const std::string& path) {
  if (why == 0) return;
  throw OrderRefusal{Status::kIoError, fmt::format("{}: {}", path, std::strerror(why))};
}

std::string words_of(Status status, int why) {
  return why == 0 ? to_string(status)
                  : fmt::format("{}: {}", to_string(status), std::strerror(why));
}

}  // namespace windhover
