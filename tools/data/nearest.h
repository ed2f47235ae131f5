// What a name that does not exist was meant to be.
#ifndef WINDHOVER_TOOLS_DATA_NEAREST_H_
#define WINDHOVER_TOOLS_DATA_NEAREST_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace windhover {

// The names that `name` may have been meant to be, the nearest first, three at most, none that is
// two slips farther off than the first. A slip is a character that is inserted, deleted or
// replaced, or two neighbours swapped; a third of the characters may be slips, two where both have
// four. Capitals do not count; what begins with the name, or one of three letters that is part of
// the other, is two slips away at most. O(names x size^2).
std::vector<std::string> nearest_names(std::string_view name, std::span<const std::string> names);

// "; did you mean a or b", to go on with after "there is no such name"; empty where none is near.
std::string did_you_mean(std::string_view name, std::span<const std::string> names);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_NEAREST_H_
