#ifndef WINDHOVER_TOOLS_DATA_SHOWN_TEXT_H_
#define WINDHOVER_TOOLS_DATA_SHOWN_TEXT_H_

#include <span>
#include <string>
#include <string_view>

namespace windhover {

// A text of a file as it stands in a table or a comment: on one line, its control characters as \n,
// \t or \x1b, so that none of them reaches a terminal. O(size).
std::string shown_text(std::string_view text);

// Texts with commas between them, in quotes those that hold one.
std::string listed_texts(std::span<const std::string> texts);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_SHOWN_TEXT_H_
