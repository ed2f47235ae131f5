// Where a file belongs in its producer's stream.
#ifndef WINDHOVER_TOOLS_CLIENT_SEND_PLACE_H_
#define WINDHOVER_TOOLS_CLIENT_SEND_PLACE_H_

#include <cstdint>

#include "windhover/io/client.h"
#include "windhover/tools/client/send.h"

namespace windhover {

struct SendPlace {
  std::uint64_t first = 0;  // sequence number of the file's first row
  std::uint64_t from = 0;   // that of the first row that the server lacks
};

// UserError for options that contradict each other or are out of range.
void check_options(const SendOptions& options);

// Connects, and compares the options with what the server knows of the producer. UserError where
// that leaves a gap, or where the server has rows and the options do not say whose they are;
// RunError when it cannot be reached.
SendPlace connect_at_place(Client& client, const SendOptions& options);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLIENT_SEND_PLACE_H_
