// Why an order about models is refused, and how exceptions become refusals.
#ifndef WINDHOVER_TOOLS_DAEMON_ORDER_REFUSAL_H_
#define WINDHOVER_TOOLS_DAEMON_ORDER_REFUSAL_H_

#include <exception>
#include <optional>
#include <string>

#include "windhover/platform/result.h"
#include "windhover/platform/status.h"
#include "windhover/tools/daemon/whole_file.h"

namespace windhover {

// Thrown, like a UserError.
struct OrderRefusal {
  Status status = Status::kOk;
  std::string sentence;
};

// Does `work`. Returns why it is refused, or nothing when it is done.
std::optional<OrderRefusal> refusal_of(auto&& work) {
  try {
    work();
    return std::nullopt;
  } catch (const OrderRefusal& refused) {
    return refused;
  } catch (const std::exception& error) {
    return OrderRefusal{Status::kInvalidConfig, error.what()};
  }
}

[[noreturn]] void refuse_order(const Error& error);
// Throws an OrderRefusal where there is a fault.
void check_done(const FileFault& fault);
// "FILE: No space left on device".
std::string text_of(const FileFault& fault);
// "io_error: No space left on device".
std::string words_of(Status status, int why);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DAEMON_ORDER_REFUSAL_H_
