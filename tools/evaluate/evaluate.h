// A file as a stream: every row is predicted before it is learned from, by the engine as a server
// runs it.
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
  InspectOptions data;                // its model is replaced by the one below
  std::optional<std::string> schema;  // instead of `data`: a complete one
  std::string model;                  // empty: what the target asks for
  std::uint32_t chunk = 1;            // rows that arrive together, 1 to 4096
  std::optional<Horizon> horizon;     // none: chosen_horizon()
  // Only N and what else belongs to a horizon is used; the rest has an engine's defaults.
  EngineConfig engine;
  bool against = false;  // also the rivals of rivals.h, or of sparse_rivals.h
  std::uint64_t seed = 1;
};

// Runs the rows of the file through an engine, in their order, in chunks of `chunk` rows; the last
// chunk may be shorter. After each chunk the learner works until it rests, or for 64 rounds a row;
// rounds that earlier rows did not need are saved, up to 16,384. Sparse rows of a schema are sparse
// here too. UserError for what is wrong with the options or the file. Keys beside the obvious:
//   scored_rows: without those that come before the units of y are known
//   chunks_cut_short: chunks after which the learner had not come to rest
//   warm_up: WarmUp over all rows, with due = max(100, 4 D)
//   log_score, reference: of the predictions, and of a forecast that knows no x
//   coverage: of the model's own intervals (held) and of conformal ones (conformal_held)
//   status, status_held: shares of the scored rows by what their answer said, and coverage of these
//   parts: the same for each tenth of the stream, up to the end of a chunk (until_row)
//   hashed: HashTallies over all rows, of a schema with hashed features
//   against: an entry for each rival, of the same rows, with `against`; then also
//     calibration_error where the rivals' probabilities are recorded (sparse_rivals.h)
nlohmann::ordered_json evaluate(const EvaluateOptions& options);

// The result as text.
std::string describe_evaluation(const nlohmann::ordered_json& result);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_EVALUATE_EVALUATE_H_
