// Runs experiments and writes NAME.json, NAME.gp, NAME.svg, NAME.png and NAME.md into the output
// directory, and index.md over all results there. NAME.failed says why the newest run failed.
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
  std::string sentence = {};  // one line about the outcome
};

// Runs the experiment with that name, or "all", and calls `told` with each outcome as it comes.
// With "all", a failure does not keep the others from running; a single experiment's exception is
// rethrown. Returns whether none failed. UserError when there is no such experiment, when
// experiments read files and settings.data is empty, when parts of an unfinished run exist and
// neither settings.resume nor settings.fresh is set, and when the directory cannot be written to.
// RunError when gnuplot is missing.
bool run_experiments(std::span<const Experiment> experiments, const std::string& name,
                     const Settings& settings, const ProgressFunction& progress,
                     const std::function<void(const Outcome&)>& told);

// The listing that `reproduce list` prints.
nlohmann::ordered_json list_json(std::span<const Experiment> experiments);
std::string list_text(std::span<const Experiment> experiments);

// Why the experiment cannot run with these data, in one sentence; empty when it can.
std::string missing_data(const Experiment& experiment, const std::filesystem::path& data);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_DRIVER_H_
