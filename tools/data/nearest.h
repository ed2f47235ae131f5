#ifndef WINDHOVER_TOOLS_DATA_NEAREST_H_
#define WINDHOVER_TOOLS_DATA_NEAREST_H_

#include <string>
#include <string_view>
#include <vector>

namespace windhover {

// Those of `names` that `name` may have been meant to be, the nearest first, three at most: a third
// of its characters may differ, two of at least four, capitals do not count, and a part of a name
// counts as near. O(names x size^2).
std::vector<std::string> nearest_names(std::string_view name,
                                       const std::vector<std::string>& names);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_NEAREST_H_
