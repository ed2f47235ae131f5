// Where in its producer's stream a file belongs.
#ifndef WINDHOVER_TOOLS_CLIENT_SEND_PLACE_H_
#define WINDHOVER_TOOLS_CLIENT_SEND_PLACE_H_

#include <cstdint>

#include "windhover/io/client.h"
#include "windhover/tools/client/send.h"

namespace windhover {

struct SendPlace {
  std::uint64_t first = 0;  // sequence number of the file's first row
  std::uint64_t from = 0;   // and of the first one that the server lacks
};

// UserError for options that contradict each other or are out of range.
void check_options(const SendOptions& options);

// Connects, and compares what the options say with what the server knows of the producer. UserError
// where that leaves a gap, or where the server knows rows and the options do not say whose they
// are; RunError when it cannot be reached.
SendPlace connect_at_place(Client& client, const SendOptions& options);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLIENT_SEND_PLACE_H_
