// The same engine in-process over a file: for experiments and checks.
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
  InspectOptions data;                // its model is the one below
  std::optional<std::string> schema;  // instead of `data`: a complete one; numbers enter by it
  std::string model;                  // empty: what the target asks for
  std::vector<std::string> against;   // "FIELD=CATEGORY": what category_groups() takes
  bool standardize = false;
  bool intercept = true;
  std::string noise_variance = "learn";  // a number, "learn", or "reference"
  // As in ModelConfig; with the default prior features and y are standardised by the whole file.
  double prior_precision = 0.0;
  bool learn_prior_precision = false;  // begins there
  bool prior_group_a_feature = false;  // learned for each by itself; otherwise one for all
  double intercept_precision = 0.0;
  double degrees_of_freedom = 4.0;
  std::uint32_t classes = 0;                      // softmax; 0: the target's categories
  std::uint32_t hidden = ModelConfig().hidden;    // networks
  std::uint32_t hidden2 = ModelConfig().hidden2;  // likewise
  Activation activation = Activation::kTanh;
  // Horizon and what belongs to it; the rest is set from the file. window_size 0: its rows.
  EngineConfig horizon = [] {
    EngineConfig config;
    config.window_size = 0;
    return config;
  }();
  std::string sampler = "calibrated";
  SamplerConfig sampler_config;     // its name is taken from `sampler`
  std::uint64_t steps = 1'000'000;  // of all chains together
  std::uint64_t seed = 1;
  // A JSON file; nothing: computed from the file, for linear and logistic models.
  std::optional<std::string> reference;
  std::function<void(std::uint64_t)> tell;  // hears now and then how many steps are done
};

// Loads the file, runs the engine in driven mode until `steps` steps are done, and says what came
// out. UserError for what the options or the file hold; RunError when the engine does not get on.
nlohmann::ordered_json fit(const FitOptions& options);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_FIT_FIT_H_
