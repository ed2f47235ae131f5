// What a server says of its data folder, as text and as JSON.
#ifndef WINDHOVER_TOOLS_CLIENT_DURABLE_TEXT_H_
#define WINDHOVER_TOOLS_CLIENT_DURABLE_TEXT_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "windhover/io/windhover.pb.h"

namespace windhover {

nlohmann::ordered_json durable_json(const v1::Durable& durable);

// First "on disk: all 120,000 rows; log 34.0 MiB of 256.0 MiB; newest checkpoint 12 s old, at row
// 118,000", then a line for each thing that fails or is still recovering. `head` is the server's.
std::vector<std::string> durable_lines(const v1::Durable& durable, std::uint64_t head);

// Why senders wait for the log, and what to do about it; empty where they do not.
std::string waiting_text(const v1::Durable& durable);

// "log_full" for REASON_LOG_FULL; "reason 99" for one that only a newer server knows.
std::string reason_name(v1::Reason reason);

// Why a checkpoint or a commit failed: the status, and the system's reason where there is one.
std::string failure_text(v1::Reason status, int error_number);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLIENT_DURABLE_TEXT_H_
