// What the parts of `streaming` share: figures with bars, marks in a panel of named columns.
#ifndef WINDHOVER_TOOLS_REPRODUCE_STREAMING_FIGURES_H_
#define WINDHOVER_TOOLS_REPRODUCE_STREAMING_FIGURES_H_

#include "windhover/tools/reproduce/harness.h"
#include "windhover/tools/reproduce/streaming_worlds.h"

namespace windhover::reproduce {

constexpr double kNominal = 0.9;

// A dashed line over all columns of a panel.
void add_level(Panel& panel, const char* label, double level, int colour);

// Every regime in a world; `begin` to `end` of the progress.
void add_world(const Context& context, const WorldFacts& world, double begin, double end,
               Report& report);
// A truth that wanders by as much as the gain of `fading` is right for, and one that stays.
void add_wandering(const Context& context, Report& report);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_STREAMING_FIGURES_H_
