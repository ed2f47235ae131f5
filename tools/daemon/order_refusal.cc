#include "windhover/tools/daemon/order_refusal.h"

#include <fmt/format.h>

#include <cstring>

#include "windhover/io/durable/error_text.h"

namespace windhover {

void refuse_order(const Error& error) { throw OrderRefusal{error.status, error_text(error)}; }

void check_written(int why, const std::string& path) {
  if (why == 0) return;
  throw OrderRefusal{Status::kIoError, fmt::format("{}: {}", path, std::strerror(why))};
}

std::string words_of(Status status, int why) {
  return why == 0 ? to_string(status)
                  : fmt::format("{}: {}", to_string(status), std::strerror(why));
}

}  // namespace windhover
