// What the suites include: servers under load, questions, limits of the machine, and timing.
#ifndef WINDHOVER_TOOLS_BENCH_HARNESS_H_
#define WINDHOVER_TOOLS_BENCH_HARNESS_H_

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "windhover/platform/histogram.h"
#include "windhover/tools/bench/load.h"
#include "windhover/tools/bench/machine.h"
#include "windhover/tools/bench/question_source.h"
#include "windhover/tools/bench/timing.h"
#include "windhover/tools/error.h"

#endif  // WINDHOVER_TOOLS_BENCH_HARNESS_H_
