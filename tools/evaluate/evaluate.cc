#include "windhover/tools/evaluate/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "windhover/platform/clock.h"
#include "windhover/platform/memory.h"
#include "windhover/runtime/chosen_horizon.h"
#include "windhover/runtime/engine.h"
#include "windhover/runtime/scoring/prediction_scores.h"
#include "windhover/samplers/registry.h"
#include "windhover/tools/data/dataset.h"
#include "windhover/tools/error.h"
#include "windhover/tools/evaluate/choose_model.h"
#include "windhover/tools/evaluate/evaluated_stream.h"
#include "windhover/tools/evaluate/sparse_rivals.h"
#include "windhover/tools/evaluate/tally.h"

namespace windhover {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kParts = 10;
constexpr std::uint32_t kMostChunk = 4'096;
constexpr std::uint32_t kMostFilter = 2'000;  // sparse features that a Kalman filter is tried with

std::uint32_t classes_of(const Schema& schema, const Dataset& data, const std::string& model) {
  if (find_model(model)->response != Response::kCategorical) return ModelConfig().classes;
  const double largest = *std::max_element(data.targets.begin(), data.targets.end());
  return std::max({2U, schema.target_rule().class_count(),
                   static_cast<std::uint32_t>(std::clamp(largest, 0.0, 1e6)) + 1});
}

EngineConfig engine_config(const EvaluateOptions& options, const Schema& schema,
                           std::uint32_t classes) {
  EngineConfig config = options.engine;
  config.model.name = options.model;
  config.model.features = static_cast<std::uint32_t>(schema.features());
  config.model.max_nonzeros = schema.sparse() ? schema.max_nonzeros() : 0;
  config.model.offset = schema.has_offset();
  config.model.weight = schema.has_weight();
  config.model.classes = classes;
  config.max_frame_rows = kMostChunk;
  config.window_slack = 2 * kMostChunk;
  config.score_predictions = true;
  config.max_readers = 1;
  config.max_query_rows = 1;
  config.seed = options.seed;
  config.horizon = options.horizon.value_or(chosen_horizon(config));
  return config;
}

ordered_json to_json(const std::vector<RivalScore>& scores) {
  ordered_json rivals = ordered_json::array();
  for (const RivalScore& score : scores) {
    ordered_json rival = {
        {"name", score.name}, {"setting", score.setting}, {"log_score", score.log_score}};
    if (std::isfinite(score.held)) {
      rival["held"] = score.held;
      rival["calibration_error"] = score.calibration_error;
    }
    rivals.push_back(std::move(rival));
  }
  return rivals;
}

}  // namespace

ordered_json evaluate(const EvaluateOptions& given) {
  EvaluateOptions options = given;
  if (options.chunk < 1 || options.chunk > kMostChunk) {
    throw UserError(fmt::format("--chunk {} is not allowed: 1 to {}", options.chunk, kMostChunk));
  }
  options.data.model = options.model;
  std::string target_note;  // what kind of value the target seems to be
  const auto found_out = [&] {
    // Other uses of surprising rows belong to some models only, so no model is chosen then.
    const bool open = options.engine.surprising_rows == SurprisingRows::kKeep;
    Inspection inspection =
        open ? inspect_and_choose(options.path, options.data) : inspect(options.path, options.data);
    target_note = std::move(inspection.target_note);
    return std::move(inspection.schema);
  };
  const Schema schema = options.schema ? Schema::from_file(*options.schema) : found_out();
  check_model(schema.target_rule(), options.model, schema.target(), schema.parts().path);
  if (options.model.empty()) options.model = schema.target_rule().default_model();
  // Checks the configuration before the file is loaded, as far as that goes without its targets.
  value_or_throw(check(engine_config(options, schema, ModelConfig().classes)));
  const Dataset data = load_stream(options.path, schema);
  const EngineConfig config =
      engine_config(options, schema, classes_of(schema, data, options.model));
  value_or_throw(check(config));
  if (options.against && config.model.offset)
    throw UserError("--against is for rows without an offset: its rivals know none");
  if (options.against && config.model.weight)
    throw UserError("--against is for rows without a weight: its rivals know none");

  const bool many = schema.sparse() && schema.features() > kMostFilter;
  const bool classes = find_model(options.model)->response == Response::kBernoulli;
  EvaluatedStream stream(config, data, options.against && many && classes);
  Tally all;
  std::vector<StreamChunk> chunks;
  ordered_json parts = ordered_json::array();
  ScoreMeans before = stream.means();
  SaidTally said;
  WarmUp warm_up{.due = std::max<std::uint64_t>(100, 4 * std::uint64_t{config.model.dimension()})};
  for (std::size_t row = 0, part = 1; row < data.rows();) {
    const std::size_t end = std::min<std::size_t>(row + options.chunk, data.rows());
    chunks.push_back(stream.learn(row, end, said));
    warm_up.add(row, end, stream.warming_up());
    row = end;
    // A part ends with the chunk that completes a tenth of the stream.
    if (row < data.rows() * part / kParts) continue;
    while (row >= data.rows() * part / kParts && part <= kParts) ++part;
    const ScoreMeans now = stream.means();
    Tally tally = Tally::between(before, now);
    tally.status = std::exchange(said, {});
    if (tally.rows > 0) {
      ordered_json entry = {{"until_row", row}};
      entry.update(tally.to_json());
      parts.push_back(std::move(entry));
    }
    for (const auto& [name, of] : tally.status) {
      all.status[name].rows += of.rows;
      all.status[name].held += of.held;
    }
    before = now;
  }
  all.status.swap(said);
  all = Tally::between(ScoreMeans{}, before);
  all.status.swap(said);
  if (all.rows == 0) {
    throw UserError(
        fmt::format("no row of {} could be scored: the first two rows, or the first --chunk, only "
                    "say in which units y is, and with --chunk {} none of the {} rows comes later",
                    options.path, options.chunk, data.rows()));
  }

  const bool diagonal = structure_of(config) == Structure::kDiagonal;
  ordered_json out = {{"file", options.path},
                      {"target", {{"column", schema.target()}, {"note", target_note}}},
                      {"rows", data.rows()},
                      {"scored_rows", static_cast<std::uint64_t>(all.rows)},
                      {"skipped_rows", data.skipped_rows},
                      {"features", data.columns()},
                      {"model", options.model},
                      {"structure", diagonal ? "diagonal" : "full"},
                      {"horizon", to_string(config.horizon)},
                      {"surprising_rows", to_string(config.surprising_rows)},
                      {"window", config.window_size},
                      {"chunk", options.chunk},
                      {"chunks", chunks.size()},
                      {"chunks_cut_short", stream.cut_short()},
                      {"warm_up", warm_up.to_json()}};
  const ordered_json whole = all.to_json();
  for (const auto& [key, value] : whole.items()) {
    if (key != "rows") out[key] = value;
  }
  out["parts"] = parts;
  if (!data.hashed.empty()) out["hashed"] = data.hashed;
  if (options.against) {
    if (stream.records()) out["calibration_error"] = stream.record().calibration_error();
    const Response response = find_model(options.model)->response;
    out["against"] =
        to_json(many ? sparse_rival_scores(data, response, chunks)
                : schema.sparse()
                    ? rival_scores(load_dataset(options.path, schema, false), response, chunks)
                    : rival_scores(data, response, chunks));
  }
  return out;
}

}  // namespace windhover
