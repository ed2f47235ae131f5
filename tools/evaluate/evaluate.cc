#include "windhover/tools/evaluate/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "windhover/platform/clock.h"
#include "windhover/platform/memory.h"
#include "windhover/runtime/engine.h"
#include "windhover/runtime/scoring/prediction_scores.h"
#include "windhover/samplers/registry.h"
#include "windhover/tools/data/dataset.h"
#include "windhover/tools/error.h"
#include "windhover/tools/evaluate/probability_record.h"
#include "windhover/tools/evaluate/sparse_rivals.h"

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
  EngineConfig config = options.horizon;
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
  return config;
}

// Of rows that were scored, and of what the answers said that they were predicted by.
struct Tally {
  double rows = 0;
  double log_score = 0;
  double reference = 0;
  std::array<double, kScoredIntervals.size()> covered{};
  std::array<double, kScoredIntervals.size()> conformal{};  // likewise
  double conformal_size = 0;
  std::map<std::string, std::uint64_t> status;

  // What came between two looks at means over all rows.
  static Tally between(const ScoreMeans& before, const ScoreMeans& after) {
    Tally t;
    const auto a = static_cast<double>(before.rows);
    const auto b = static_cast<double>(after.rows);
    t.rows = b - a;
    t.log_score = b * after.log_score - a * before.log_score;
    t.reference = b * after.reference - a * before.reference;
    for (std::size_t i = 0; i < t.covered.size(); ++i) {
      t.covered[i] = b * after.coverage[i] - (a > 0 ? a * before.coverage[i] : 0);
      t.conformal[i] =
          b * after.conformal_coverage[i] - (a > 0 ? a * before.conformal_coverage[i] : 0);
    }
    t.conformal_size = b * after.conformal_size - (a > 0 ? a * before.conformal_size : 0);
    return t;
  }

  ordered_json to_json() const {
    ordered_json coverage = ordered_json::array();
    for (std::size_t i = 0; i < covered.size(); ++i) {
      const auto share = [&](double of) {
        return std::isfinite(of) ? ordered_json(of / rows) : ordered_json();
      };
      coverage.push_back({{"interval", kScoredIntervals[i]},
                          {"held", share(covered[i])},
                          {"conformal_held", share(conformal[i])}});
    }
    ordered_json said = ordered_json::object();
    std::uint64_t total = 0;
    for (const auto& [name, count] : status) total += count;
    for (const auto& [name, count] : status) {
      said[name] = static_cast<double>(count) / static_cast<double>(total);
    }
    return {{"rows", static_cast<std::uint64_t>(rows)},
            {"log_score", log_score / rows},
            {"reference", reference / rows},
            {"coverage", coverage},
            {"conformal_size", conformal_size / rows},
            {"status", said}};
  }
};

std::string status_text(const Provenance& provenance) {
  std::string text = to_string(provenance.status);
  if (provenance.reason != StatusReason::kNone &&
      provenance.status != PosteriorStatus::kWarmingUp) {
    text += fmt::format(": {}", to_string(provenance.reason));
  }
  return text;
}

// One engine over the rows. Its clock moves by a millisecond a chunk and stands still meanwhile, so
// that no row is unscored for want of time, and a run is a function of the file and the options.
class Stream {
 public:
  // `records`: what is said of 0 and 1 is kept, beside the engine's own scores.
  Stream(const EngineConfig& config, const Dataset& data, bool records)
      : data_(data),
        records_(records),
        block_(value_or_throw(Engine::footprint(config))),
        clock_(1) {
    if (!block_.valid()) throw RunError("no memory for the engine");
    engine_ = value_or_throw(Engine::create(config, block_.bytes(), clock_));
    reader_.emplace(value_or_throw(engine_->reader()));
  }

  // Rows [first, end) arrive together: says what was said of them, and which were scored.
  StreamChunk learn(std::size_t first, std::size_t end,
                    std::map<std::string, std::uint64_t>& said) {
    const std::uint64_t scored = means().rows;
    Provenance before;
    const bool answers = ok(reader_->provenance(before));
    ObservationBatch batch;
    batch.rows = end - first;
    put_features(first, end, batch);
    batch.targets = reinterpret_cast<const std::byte*>(data_.targets.data() + first);
    if (!data_.offsets.empty())
      batch.offsets = reinterpret_cast<const std::byte*>(data_.offsets.data() + first);
    if (!data_.weights.empty())
      batch.weights = reinterpret_cast<const std::byte*>(data_.weights.data() + first);
    if (!data_.trials.empty())
      batch.trials = reinterpret_cast<const std::byte*>(data_.trials.data() + first);
    std::array<RefusedRow, 1> refused;
    if (records_) ask(first, end);
    const ObserveResult result = engine_->observe(batch, refused);
    if (!ok(result.status)) throw RunError(fmt::format("observing: {}", to_string(result.status)));
    if (result.refused > 0) {
      throw UserError(fmt::format("row {} of the file is refused: {}", first + refused[0].row + 1,
                                  to_string(refused[0].reason)));
    }
    clock_.advance_ns(1'000'000);
    rest(end - first);
    const std::uint64_t more = means().rows - scored;
    if (answers && more > 0) said[status_text(before)] += more;
    // Only rows from before there are units go unscored, and they come first.
    for (std::size_t i = end - more; i < end && records_; ++i) {
      record_.add(said_[i - first], data_.targets[i]);
    }
    return {first, end, end - more};
  }
  bool records() const { return records_; }
  const ProbabilityRecord& record() const { return record_; }

  // Chunks after which the learner had not come to rest.
  std::uint64_t cut_short() const { return cut_short_; }

  ScoreMeans means() const {
    PredictionScores scores;
    if (!engine_->scores(scores)) throw RunError("the engine keeps no scores");
    return scores.means.back();
  }

 private:
  // Of rows that leave the posterior all but flat in some direction chains can take 100,000 rounds
  // to rest after each. A row grants what nearly all need, and what they do not is saved for a cold
  // start.
  static constexpr int kRoundsARow = 64;
  static constexpr int kMostSaved = 1 << 14;

  void rest(std::size_t rows) {
    granted_ = std::min(granted_ + kRoundsARow * static_cast<int>(rows), kMostSaved);
    int done = 0;
    do {
      done = engine_->poll(std::min(kRoundsARow, granted_));
      granted_ -= done;
    } while (done > 0 && granted_ > 0);
    if (done > 0) ++cut_short_;
    engine_->poll(0);  // serves what there is
  }

  void put_features(std::size_t first, std::size_t end, ObservationBatch& batch) {
    if (data_.sparse_columns == 0) {
      batch.features = reinterpret_cast<const std::byte*>(data_.row(first));
      batch.feature_values = batch.rows * data_.columns();
      return;
    }
    const std::size_t begin = first > 0 ? data_.row_ends[first - 1] : 0;
    ends_.clear();
    for (std::size_t i = first; i < end; ++i)
      ends_.push_back(static_cast<std::uint32_t>(data_.row_ends[i] - begin));
    batch.features = reinterpret_cast<const std::byte*>(data_.features.data() + begin);
    batch.indices = reinterpret_cast<const std::byte*>(data_.indices.data() + begin);
    batch.row_ends = reinterpret_cast<const std::byte*>(ends_.data());
    batch.feature_values = data_.row_ends[end - 1] - begin;
  }

  // What rows that are about to arrive are given as probability of 1.
  void ask(std::size_t first, std::size_t end) {
    said_.clear();
    PredictiveSummary summary;
    Provenance provenance;
    for (std::size_t i = first; i < end; ++i) {
      const std::size_t begin = i > 0 ? data_.row_ends[i - 1] : 0;
      const auto count = static_cast<std::uint32_t>(data_.row_ends[i] - begin);
      PredictRequest request;
      request.rows = 1;
      request.features = std::span(data_.features).subspan(begin, count);
      request.indices = std::span(data_.indices).subspan(begin, count);
      request.row_ends = {&count, 1};
      const Status status = reader_->predict(request, {&summary, 1}, provenance);
      if (!ok(status)) throw RunError(fmt::format("predicting: {}", to_string(status)));
      said_.push_back(summary.mean);
    }
  }

  const Dataset& data_;
  const bool records_;
  ProbabilityRecord record_;
  std::vector<double> said_;  // of the rows that arrive
  MappedBlock block_;
  ManualClock clock_;
  Engine* engine_ = nullptr;
  std::optional<Reader> reader_;
  int granted_ = 0;  // rounds
  std::uint64_t cut_short_ = 0;
  std::vector<std::uint32_t> ends_;  // of the rows that arrive, where they are sparse
};

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
  const Schema schema = options.schema ? Schema::from_file(*options.schema)
                                       : inspect(options.path, options.data).schema;
  check_model(schema.target_rule(), options.model, schema.target(), schema.parts().path);
  if (options.model.empty()) options.model = schema.target_rule().default_model();
  // Before the file is held, as far as it goes without its targets.
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
  Stream stream(config, data, options.against && many && classes);
  Tally all;
  std::vector<StreamChunk> chunks;
  ordered_json parts = ordered_json::array();
  ScoreMeans before = stream.means();
  std::map<std::string, std::uint64_t> said;
  for (std::size_t row = 0, part = 1; row < data.rows();) {
    const std::size_t end = std::min<std::size_t>(row + options.chunk, data.rows());
    chunks.push_back(stream.learn(row, end, said));
    row = end;
    // A part ends with the chunk in which a tenth of the stream is full.
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
    for (const auto& [name, count] : tally.status) all.status[name] += count;
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
                      {"chunks_cut_short", stream.cut_short()}};
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
