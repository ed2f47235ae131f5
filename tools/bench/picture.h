// A suite's result as a picture.
#ifndef WINDHOVER_TOOLS_BENCH_PICTURE_H_
#define WINDHOVER_TOOLS_BENCH_PICTURE_H_

#include <string>

#include "windhover/tools/bench/suite.h"

namespace windhover {

// Of `query` or `growth`. Writes SUITE.svg, SUITE.png and the script that draws them into
// `directory`, which is made where it is missing. RunError when that fails.
void draw_picture(const Json& result, const std::string& directory);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_PICTURE_H_
