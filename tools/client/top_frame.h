// What `windhover top` shows of a server, as text: a pure function of two looks at it.
#ifndef WINDHOVER_TOOLS_CLIENT_TOP_FRAME_H_
#define WINDHOVER_TOOLS_CLIENT_TOP_FRAME_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "windhover/io/windhover.pb.h"

namespace windhover {

struct TopLook {
  std::string address;
  v1::ModelKind model = v1::MODEL_KIND_OTHER;
  std::vector<v1::ModelState> models;  // all of the server
  v1::StatusResult status;             // meaningless where there is an error
  std::string error;                   // why there is no answer; empty: there is one
};

struct TopSize {
  std::size_t columns = 80;
  std::size_t rows = 24;
};

// At most `size.rows` lines of at most `size.columns` characters, without line ends. Rates cover
// the time between `before` and `now`, by the server's clock; they are "-" without a look before,
// and where the server was restarted in between.
std::vector<std::string> top_frame(const std::optional<TopLook>& before, const TopLook& now,
                                   const TopSize& size);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_CLIENT_TOP_FRAME_H_
