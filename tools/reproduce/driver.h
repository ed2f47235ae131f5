// Runs experiments and writes what they found: NAME.json, NAME.gp, NAME.svg, NAME.png and NAME.md
// in the output directory, and index.md over all that is there. NAME.failed says why the newest run
// came to no result.
#ifndef WINDHOVER_TOOLS_REPRODUCE_DRIVER_H_
#define WINDHOVER_TOOLS_REPRODUCE_DRIVER_H_

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "windhover/tools/reproduce/experiment.h"

namespace windhover::reproduce {

struct Outcome {
  std::string name;
  bool skipped = false;
  bool failed = false;
  std::string sentence = {};  // what there is to say about it: one line
};

// Runs the experiment of that name, or "all", and calls `told` with each outcome as it comes. With
// "all", one that fails does not keep the others from running. UserError for a name that is none,
// with those that are, for a directory that cannot be written to, for experiments that read files
// without settings.data, and for parts of an unfinished run with neither settings.resume nor
// settings.fresh; RunError for gnuplot missing. Returns whether none failed.
bool run_experiments(std::span<const Experiment> experiments, const std::string& name,
                     const Settings& settings, const ProgressFunction& progress,
                     const std::function<void(const Outcome&)>& told);

// Used by `reproduce list`.
nlohmann::ordered_json list_json(std::span<const Experiment> experiments);
std::string list_text(std::span<const Experiment> experiments);

// Why the experiment cannot run with these data: one sentence; empty when it can.
std::string missing_data(const Experiment& experiment, const std::filesystem::path& data);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_DRIVER_H_
