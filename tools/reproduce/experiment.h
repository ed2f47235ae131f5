// An experiment of a paper, repeated: its files, its source, and the function that runs it. One
// list of them serves the command, its listing and the tests.
#ifndef WINDHOVER_TOOLS_REPRODUCE_EXPERIMENT_H_
#define WINDHOVER_TOOLS_REPRODUCE_EXPERIMENT_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "windhover/tools/reproduce/context.h"
#include "windhover/tools/reproduce/report.h"

namespace windhover::reproduce {

struct Experiment {
  std::string_view name;
  std::string_view source;              // paper and table or figure
  std::string_view summary;             // what it shows, in one line
  std::vector<std::string_view> files;  // of the data directory, by the names in files.h
  // Fills the report. Throws UserError or RunError.
  void (*run)(const Context& context, Report& report);
  bool has_quick = true;   // does less with --quick
  bool any_files = false;  // runs with whichever of the files are there
};

std::span<const Experiment> experiments();

void run_complete_recipe(const Context& context, Report& report);
void run_detection(const Context& context, Report& report);
void run_double_well(const Context& context, Report& report);
void run_fisher_scoring(const Context& context, Report& report);
void run_ground_truth(const Context& context, Report& report);
void run_hyperparameters(const Context& context, Report& report);
void run_iterate_averaging(const Context& context, Report& report);
void run_kdd99(const Context& context, Report& report);
void run_mnist_santa(const Context& context, Report& report);
void run_neural_network(const Context& context, Report& report);
void run_nuts_crossover(const Context& context, Report& report);
void run_ou_covariance(const Context& context, Report& report);
void run_stationary_kl(const Context& context, Report& report);
void run_streaming(const Context& context, Report& report);

}  // namespace windhover::reproduce

#endif  // WINDHOVER_TOOLS_REPRODUCE_EXPERIMENT_H_
