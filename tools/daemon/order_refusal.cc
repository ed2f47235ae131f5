#include "windhover/tools/daemon/order_refusal.h"

#include <fmt/format.h>

#include <cstring>

#include "windhover/io/durable/error_text.h"

namespace windhover {

void refuse_order(const Error& error) { throw OrderRefusal{error.status, error_text(error)}; }

void check_done(const FileFault& fault) {
  if (fault.why != 0) throw OrderRefusal{Status::kIoError, text_of(fault)};
}

std::string text_of(const FileFault& fault) {
  return fmt::format("{}: {}", fault.path, std::strerror(fault.why));
}

std::string words_of(Status status, int why) {
  return why == 0 ? to_string(status)
                  : fmt::format("{}: {}", to_string(status), std::strerror(why));
}

}  // namespace windhover
