// Predictions in process.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "windhover/platform/histogram.h"
#include "windhover/platform/random.h"
#include "windhover/tools/bench/learning_engine.h"
#include "windhover/tools/bench/question_source.h"
#include "windhover/tools/bench/step_runs.h"

namespace windhover {

namespace {

// A request of dense rows reads the draws and the lower triangle of the inverse factor of A, at
// least once for all of its rows, from the cache that they fit, and each row is multiplied with
// both: the roofline is the slower of the two at the machine's best. Every request has other rows.
// Returns the seconds a row of a request.
double predict(Runs& runs, LearningEngine& learning, const char* model, std::size_t rows,
               double single, const ComputeLimits& limits) {
  const std::uint32_t dimension = learning.engine().dimension();
  Reader reader = learning.engine().reader().value();
  const std::size_t requests = std::max<std::size_t>(4, 64 / rows);
  const std::size_t numbers_asked = rows * (dimension - 1);
  std::vector<double> x(requests * numbers_asked);
  fill_normals(1, {rows}, x);
  std::vector<PredictiveSummary> summaries(rows);
  Provenance provenance;
  PredictRequest request;
  request.rows = rows;
  request.thompson_id = 1;  // reads all draws
  std::size_t next = 0;
  const auto ask = [&] {
    request.features = std::span(x).subspan(next * numbers_asked, numbers_asked);
    next = next + 1 == requests ? 0 : next + 1;
    (void)reader.predict(request, summaries, provenance);
  };
  double seconds = 0;
  RealClock clock;
  Histogram latency;
  runs.add(fmt::format("predict {} D={} rows={}", model, dimension, rows), [&] {
    seconds = fastest(runs.budget(), ask);
    for (const double end = thread_seconds() + runs.budget(); thread_seconds() < end;) {
      for (int i = 0; i < 64; ++i) {
        const std::int64_t start = clock.now_ns();
        ask();
        latency.record(clock.now_ns() - start);
      }
    }
    const double a_row = seconds / static_cast<double>(rows);
    const double numbers = dimension * (provenance.draws + 0.5 * (dimension + 1));
    const double by_bytes = 8 * numbers / limits.bytes_per_second(8 * numbers);
    const double by_flops = 2 * numbers * static_cast<double>(rows) / limits.flops_double;
    return Figures{{"us", 1e6 * seconds},
                   {"us_per_row", 1e6 * a_row},
                   {"rate_over_single", single > 0 ? single / a_row : 1.0},
                   {"draws", static_cast<double>(provenance.draws)},
                   {"bytes_read", 8 * numbers},
                   {"by_bytes_us", 1e6 * by_bytes},
                   {"by_flops_us", 1e6 * by_flops},
                   {"clocks_in_its_time", 1e9 * seconds / limits.clock_ns},
                   {"of_roofline", std::max(by_bytes, by_flops) / seconds}};
  });
  runs.last()["latency"] = percentiles(latency);
  return seconds / static_cast<double>(rows);
}

}  // namespace

void add_predictions(Runs& runs, std::uint32_t dimension, const ComputeLimits& limits) {
  for (const char* model : {"linear", "logistic"}) {
    LearningEngine learning({.model = model, .dimension = dimension, .minibatch_size = 64});
    const double single = predict(runs, learning, model, 1, 0, limits);
    predict(runs, learning, model, 256, single, limits);
  }
}

}  // namespace windhover
