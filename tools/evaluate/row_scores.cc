#include "windhover/tools/evaluate/row_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "windhover/runtime/chosen_horizon.h"
#include "windhover/samplers/registry.h"
#include "windhover/tools/error.h"
#include "windhover/tools/evaluate/evaluated_stream.h"

namespace windhover {
namespace {

constexpr double kWorst = -1'000;  // as the engine's own scores
// The posterior that predicts is found in the first rounds after a chunk. The others only make
// draws, which these scores do not use: on 2,000 rows of 82 columns all take 10 s instead of 1 s,
// and scores differ by 0.005.
constexpr int kMostRounds = 640;

EngineConfig engine_config(std::string_view model, const Dataset& data) {
  EngineConfig config;
  config.model.name = model;
  config.model.features = static_cast<std::uint32_t>(data.columns());
  config.max_frame_rows = static_cast<std::uint32_t>(data.rows());
  config.window_slack = 2 * data.rows();
  config.score_predictions = true;  // as in a stream
  config.max_readers = 1;
  config.max_query_rows = 1;
  config.horizon = chosen_horizon(config);
  return config;
}

// Scores y at a row: by its density, or for whole numbers by the probability of the unit around y.
class RowScorer {
 public:
  RowScorer(Reader& reader, const Dataset& data, bool whole)
      : reader_(reader), data_(data), whole_(whole) {}

  double score(std::size_t row) {
    const double y = data_.targets[row];
    const double centre = log_score(row, y);
    if (!whole_) return centre;
    const double probability = summary_.exceedance[0] - summary_.exceedance[1];
    if (probability > kTold) return std::log(probability);
    return std::max({centre, log_score(row, y - kHalf), log_score(row, y + kHalf)});
  }

  // The outcome less the predicted mean, for the row that was scored last.
  double miss(std::size_t row) const { return data_.targets[row] - summary_.mean; }

 private:
  static constexpr double kHalf = 0.5;
  // A difference of two probabilities above this has six good digits. Below it the largest density
  // in the unit around y is taken instead, an upper bound of its probability.
  static constexpr double kTold = 1e-10;

  double log_score(std::size_t row, double y) {
    const std::array thresholds = {y - kHalf, y + kHalf};
    PredictRequest request;
    request.rows = 1;
    request.features = {data_.row(row), data_.columns()};
    request.outcomes = {&y, 1};
    if (whole_) request.thresholds = thresholds;
    Provenance provenance;
    require(reader_.predict(request, {&summary_, 1}, provenance), "predicting");
    return summary_.log_score > kWorst ? summary_.log_score : kWorst;  // also for NaN
  }

  Reader& reader_;
  const Dataset& data_;
  const bool whole_;
  PredictiveSummary summary_;
};

}  // namespace

std::size_t unscored_rows(const Dataset& data) {
  constexpr std::size_t kFewest = 20;
  return std::max(kFewest, 2 * data.columns());
}

RowScores row_scores(std::string_view model, const Dataset& data, bool whole, double growth) {
  EvaluatedStream stream(engine_config(model, data), data, false, kMostRounds);
  const bool is_density = is_number(find_model(model)->response);
  RowScorer scorer(stream.reader(), data, whole && is_density);
  SaidTally tally;
  RowScores said;
  std::size_t row = std::min(unscored_rows(data), data.rows());
  stream.learn(0, row, tally);
  while (row < data.rows()) {
    const auto more = static_cast<std::size_t>(growth * static_cast<double>(row));
    const std::size_t end = std::min(data.rows(), row + std::max<std::size_t>(more, 1));
    for (std::size_t i = row; i < end; ++i) {
      said.scores.push_back(scorer.score(i));
      said.misses.push_back(scorer.miss(i));
    }
    if (end < data.rows()) stream.learn(row, end, tally);
    row = end;
  }
  return said;
}

}  // namespace windhover
