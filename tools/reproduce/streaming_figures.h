// What the parts of `streaming` share: figures with bars, marks in a panel of named columns.
#ifndef WINDHOVER_TOOLS_REPRODUCE_STREAMING_FIGURES_H_
#define WINDHOVER_TOOLS_REPRODUCE_STREAMING_FIGURES_H_

#include <optional>
#include <string>

#include "windhover/tools/reproduce/context.h"
#include "windhover/tools/reproduce/moments_json.h"
#include "windhover/tools/reproduce/report.h"
#include "windhover/tools/reproduce/streaming_worlds.h"

namespace windhover::reproduce {

constexpr double kNominal = 0.9;

// `value`, give or take `tolerance`, however large the run's own error is: not decided where that
// exceeds a third of it.
Bar within(double value, double tolerance, const Estimate& simulated);

void add_figure(Report& report, const std::string& group, const std::string& name,
                const Estimate& mean, std::optional<Bar> bar = {});

Series marks(const std::string& label, int colour);
void add_mark(Series& series, double x, const Estimate& y);
// Marks of what theory says.
Series theory_marks();
// A dashed line over all columns of a panel.
void add_level(Panel& panel, const char* label, double level, int colour);

// Every regime in a world; `begin` to `end` of the progress.
void add_world(const Context& context, const WorldFacts& world, double begin, double end,
               Report& report);
// A truth that wanders by as much as the gain of `forgetting` is right for, and one that stays.
void add_wandering(const Context& context, Report& report);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_STREAMING_FIGURES_H_
