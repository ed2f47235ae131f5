#ifndef WINDHOVER_TOOLS_DATA_SHOWN_TEXT_H_
#define WINDHOVER_TOOLS_DATA_SHOWN_TEXT_H_

#include <span>
#include <string>
#include <string_view>

namespace windhover {

// A text of a file for a table or a comment: on one line, with control characters as \n, \t or
// \x1b, so that none reaches a terminal. O(size).
std::string shown_text(std::string_view text);

// The texts, separated by commas; a text with a comma or quote is quoted.
std::string listed_texts(std::span<const std::string> texts);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_SHOWN_TEXT_H_
