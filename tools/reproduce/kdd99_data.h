// KDD Cup 1999, the 10 percent file, as numbers.
#ifndef WINDHOVER_TOOLS_REPRODUCE_KDD99_DATA_H_
#define WINDHOVER_TOOLS_REPRODUCE_KDD99_DATA_H_

#include <string>
#include <vector>

#include "windhover/tools/data/dataset.h"

namespace windhover::reproduce {

struct Connections {
  Dataset data;                       // targets: the number of the label
  std::vector<std::string> labels;    // the most frequent first
  std::vector<std::size_t> distinct;  // the first of each set of equal rows, labels included
};

// 40 features in [0, 1]: the column that is 0 in every row (num_outbound_cmds) is left out, the
// text of protocol, service and flag becomes its number in alphabetical order over the largest, and
// another column with values above 1 becomes log(1 + x) over the largest.
Connections load_connections(const std::string& path);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_KDD99_DATA_H_
