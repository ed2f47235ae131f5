// A file as a stream: every row predicted before it is learned from, by the engine as it is served.
#ifndef WINDHOVER_TOOLS_EVALUATE_EVALUATE_H_
#define WINDHOVER_TOOLS_EVALUATE_EVALUATE_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "windhover/runtime/config.h"
#include "windhover/tools/data/inspect.h"

namespace windhover {

struct EvaluateOptions {
  std::string path;
  InspectOptions data;                // its model is the one below
  std::optional<std::string> schema;  // instead of `data`: a complete one
  std::string model;                  // empty: what the target asks for
  std::uint32_t chunk = 1;            // rows that arrive together, 1 to 4096
  std::optional<Horizon> horizon;     // nothing: chosen_horizon()
  // N and what else belongs to a horizon; the rest as an engine's defaults.
  EngineConfig engine;
  bool against = false;  // with the rivals of rivals.h, or of sparse_rivals.h
  std::uint64_t seed = 1;
};

// Runs the file through an engine from its first row to its last, in their order, in chunks of
// exactly `chunk` rows, the last of what is left. After each chunk the learner works until it
// rests, or for 64 rounds a row; what rows before did not need counts, up to 16,384. Keys: rows,
// `scored_rows` (without those before the units of y are known), features, model, `structure`,
// horizon, `surprising_rows`, window, `chunks`, `chunks_cut_short` (after which it had not come to
// rest), `warm_up` (WarmUp, of all rows: `due` is max(100, 4 D)), `log_score`, `reference` (who
// knows no x), `coverage` (of the model's own intervals, `held`, and of `conformal_held` ones),
// `conformal_size`, `status` (shares of the rows scored by what their answer said), `parts` (the
// same of ten pieces of the stream, each to the end of a chunk, its last row `until_row`, its
// `rows` those scored), of a schema with hashed features `hashed` (HashTallies, of all rows), and
// with `against` one entry a rival, of the same rows, with `calibration_error` where the rivals'
// probabilities are recorded (sparse_rivals.h). Rows of a schema that makes them sparse are sparse
// here too. UserError for what the options or the file hold.
nlohmann::ordered_json evaluate(const EvaluateOptions& options);

// The same for people.
std::string describe_evaluation(const nlohmann::ordered_json& result);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_EVALUATE_EVALUATE_H_
