// Suggestions for a name that does not exist.
#ifndef WINDHOVER_TOOLS_DATA_NEAREST_H_
#define WINDHOVER_TOOLS_DATA_NEAREST_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace windhover {

// The names that `name` may mean, nearest first, at most three; none is two or more slips farther
// off than the first. A slip is a character inserted, deleted or replaced, or two neighbours
// swapped. A third of the characters may be slips; two may be where both names have at least four.
// Case does not count. A name that begins with `name`, or of which one of three letters or more
// contains the other, counts as at most two slips away. O(names x size^2).
std::vector<std::string> nearest_names(std::string_view name, std::span<const std::string> names);

// "; did you mean a or b", to follow "there is no such name"; empty where no name is near.
std::string did_you_mean(std::string_view name, std::span<const std::string> names);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_NEAREST_H_
