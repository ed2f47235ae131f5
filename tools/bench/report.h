// The result of a suite for people, and two results side by side.
#ifndef WINDHOVER_TOOLS_BENCH_REPORT_H_
#define WINDHOVER_TOOLS_BENCH_REPORT_H_

#include <string>

#include "windhover/tools/bench/suite.h"

namespace windhover {

// Tables: one line a run, runs with the same figures under one heading, parts of a run (e.g. the
// percentiles of a latency) under headings of their own.
std::string text_of(const Json& result);

// A result that --json has printed. UserError: no such file, or no such content.
Json read_result(const std::string& path);

// For every run that both have, {"name": {"figure": new / old, ...}}; limits likewise under
// "limits". A figure that is 0 on one side has "old -> new" instead; one that is 0 on both, or
// null, is left out. UserError when the suites differ.
Json ratios(const Json& before, const Json& after);

// The same as a table of old, new and new / old.
std::string text_of_ratios(const Json& before, const Json& after);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_REPORT_H_
