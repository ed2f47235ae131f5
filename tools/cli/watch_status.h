#ifndef WINDHOVER_TOOLS_CLI_WATCH_STATUS_H_
#define WINDHOVER_TOOLS_CLI_WATCH_STATUS_H_

#include <cstdint>
#include <string>

#include "windhover/io/windhover.pb.h"
#include "windhover/runtime/prediction/predictive.h"
#include "windhover/tools/cli/server_options.h"

namespace windhover {

// Prints a line about the server every `seconds`, `times` of them (0: until a signal ends the
// process). While the server is out of reach the lines say so, and it is tried again.
void watch_status(const ServerOptions& server, double seconds, std::uint64_t times);

// "ok          rows 12000 (+512/s), worth 10000, 640 effective draws", with more blanks after the
// status; without the rate where `rows_a_second` is negative. `log`: why the log holds up senders,
// or REASON_OK.
std::string watch_line(const Provenance& provenance, bool paused, v1::Reason log,
                       std::uint64_t head, double rows_a_second);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLI_WATCH_STATUS_H_
