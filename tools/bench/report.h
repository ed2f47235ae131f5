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

// UserError unless the two are results of one suite with the same options. An option that one of
// them does not know had its default there.
void require_comparable(const Json& before, const Json& after);

// For every run that both have, {"name": {"figure": new / old, ...}}; limits likewise under
// "limits". A figure that is 0 on one side has "old -> new" instead; one that is 0 on both, or
// null, is left out. Under "differs" stands what else is not the same, old -> new: processor,
// instruction set, compiler, version, revision. Requires comparable results.
Json ratios(const Json& before, const Json& after);

// The same as a table of old, new and new / old.
std::string text_of_ratios(const Json& before, const Json& after);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_REPORT_H_
