// Runs the engine in this process over a whole file: for experiments and checks.
#ifndef WINDHOVER_TOOLS_FIT_FIT_H_
#define WINDHOVER_TOOLS_FIT_FIT_H_

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "windhover/runtime/config.h"
#include "windhover/tools/data/inspect.h"

namespace windhover {

struct FitOptions {
  std::string path;
  InspectOptions data;                // its model is replaced by the one below
  std::optional<std::string> schema;  // instead of `data`: a complete one, with its units
  std::string model;                  // empty: what the target asks for
  std::vector<std::string> against;   // "FIELD=CATEGORY": what category_groups() takes
  bool standardize = false;
  bool intercept = true;
  std::string noise_variance = "learn";  // a number, "learn", or "reference"
  // As in ModelConfig; with the default prior features and y are standardised by the whole file.
  double prior_precision = 0.0;
  bool learn_prior_precision = false;  // starts at prior_precision
  bool prior_group_a_feature = false;  // learned for each feature; otherwise one for all
  double intercept_precision = 0.0;
  double degrees_of_freedom = 4.0;
  std::uint32_t classes = 0;                      // softmax; 0: the target's categories
  std::uint32_t hidden = ModelConfig().hidden;    // networks
  std::uint32_t hidden2 = ModelConfig().hidden2;  // likewise
  Activation activation = Activation::kTanh;
  // Only the horizon and what belongs to it is used. window_size 0: the rows of the file.
  EngineConfig horizon = [] {
    EngineConfig config;
    config.window_size = 0;
    return config;
  }();
  std::string sampler = "calibrated";
  SamplerConfig sampler_config;     // its name is taken from `sampler`
  std::uint64_t steps = 1'000'000;  // of all chains together
  std::uint64_t seed = 1;
  // A JSON file; none: computed from the file, for linear, log-normal, logistic and binomial
  // models.
  std::optional<std::string> reference;
  std::function<void(std::uint64_t)> tell;  // called now and then with the number of steps done
};

// Loads the file, runs the engine in driven mode until `steps` steps are done (without a window
// until the rows are used up), and returns the result. UserError for what is wrong with the options
// or the file; RunError when the engine stops early.
nlohmann::ordered_json fit(const FitOptions& options);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_FIT_FIT_H_
