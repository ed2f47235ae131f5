// Many sparse columns with Structure::kDiagonal: the cost of a row, a prediction, the memory and
// the start, beside stochastic gradient descent over the same rows.
#include "windhover/platform/clock.h"
#include "windhover/runtime/engine.h"
#include "windhover/tools/bench/harness.h"
#include "windhover/tools/bench/sparse_rows.h"
#include "windhover/tools/owned_engine.h"

namespace windhover {

namespace {

constexpr std::uint32_t kChains = 8;
constexpr std::uint32_t kNonzeros = 32;
constexpr std::uint32_t kColumns = 1U << 18;
constexpr std::uint32_t kManyColumns = 1U << 20;  // memory, start
constexpr std::uint64_t kFrame = 256;
constexpr std::uint64_t kRoundRows = 64;

struct Shape {
  std::uint32_t features;
  std::uint32_t nonzeros;
  std::uint64_t window;  // 100,000, or at most four rows a column
};

Shape shape_of(const BenchOptions& options, std::uint32_t columns) {
  const std::uint32_t features = list_or(options.dimensions, {columns}).front();
  const std::uint32_t nonzeros = options.nonzeros > 0 ? options.nonzeros : kNonzeros;
  if (options.dimensions.size() > 1 || features < 2 * nonzeros) {
    throw UserError(fmt::format(
        "sparse takes one --dimension, of at least twice as many columns as --nonzeros, {}",
        nonzeros));
  }
  return {features, nonzeros, std::min<std::uint64_t>(100'000, std::uint64_t{4} * features)};
}

std::string name_of(const Shape& shape) {
  return fmt::format("D={} nonzeros={}", shape.features, shape.nonzeros);
}

EngineConfig config_of(const Shape& shape, std::uint32_t draws, bool weights) {
  EngineConfig config;
  config.structure = Structure::kDiagonal;
  config.model.name = "logistic";
  config.model.features = shape.features;
  config.model.max_nonzeros = shape.nonzeros;
  config.model.weight = weights;
  config.model.prior_precision = config.model.intercept_precision = 1;
  config.sampler.chains = kChains;
  config.window_size = shape.window;
  config.retained_draws = draws;
  return config;
}

// An engine, and rows that are sent to it again and again.
class Fed {
 public:
  Fed(const EngineConfig& config, const SparseRows& rows) : engine_(config), rows_(rows) {}

  Engine& engine() { return *engine_; }
  std::size_t bytes() const { return engine_.memory().size(); }
  std::uint64_t seen() const { return seen_; }
  std::uint64_t examples() const { return engine_.count(RuntimeCounter::kExamples); }

  // Observes up to `count` rows; returns how many there was room for.
  std::uint64_t observe(std::uint64_t count) {
    const std::uint64_t first = seen_ % rows_.size();
    std::array<RefusedRow, 1> refused;
    const ObserveResult result =
        engine_->observe(rows_.batch(first, std::min(count, rows_.size() - first)), refused);
    if (result.refused > 0) throw RunError(to_string(refused[0].reason));
    seen_ += result.accepted;
    return result.accepted;
  }
  // Observes as many rows as a round takes, and makes one round: no stream is faster.
  void round() {
    observe(kRoundRows);
    (void)engine_->poll(1);
  }
  void fill() {
    while (seen_ < engine_->config().window_size + kRoundRows) round();
  }

 private:
  OwnedEngine engine_;
  const SparseRows& rows_;
  std::uint64_t seen_ = 0;
};

// Observes and learns in turns on this thread.
void learn_in_turns(Runs& runs, const Shape& shape, const std::string& name, Fed& fed,
                    double limit) {
  runs.add(fmt::format("learn in turns {} {}", name_of(shape), name), [&] {
    const std::uint64_t before = fed.seen();
    const std::uint64_t examples = fed.examples();
    const double seconds = average(runs.budget(), [&] { fed.round(); });
    const auto rows = static_cast<double>(fed.seen() - before);
    const double drawn = static_cast<double>(fed.examples() - examples) / rows / kChains;
    const double rate = static_cast<double>(kRoundRows) / seconds;
    return Figures{{"rows_per_second", rate},
                   {"us_per_row", 1e6 / rate},
                   {"draws_per_observation", drawn},
                   {"chains", kChains},
                   {"of_sgd", rate / limit}};
  });
}

// Observes beside a learner thread as fast as the window takes rows, by the wall clock.
void learn_beside(Runs& runs, const Shape& shape, const std::string& name, Fed& fed, double limit) {
  LearnerThread learner;
  start_learner(learner, fed.engine());
  const auto feed = [&](const auto& enough) {
    while (!enough()) {
      if (fed.observe(kFrame) == 0) sleep_for(1e-4);
    }
  };
  const std::uint64_t start = fed.seen();
  // Before measuring, the learner falls as far behind as it may.
  feed([&] { return fed.seen() > start + fed.engine().config().window_slack; });
  runs.add(fmt::format("learn {} {}", name_of(shape), name), [&] {
    const std::uint64_t before = fed.seen();
    const std::uint64_t examples = fed.examples();
    const double begin = wall_seconds();
    feed([&] { return wall_seconds() - begin > 2 * runs.budget(); });
    const double took = wall_seconds() - begin;
    const auto rows = static_cast<double>(fed.seen() - before);
    const double drawn = static_cast<double>(fed.examples() - examples) / rows / kChains;
    return Figures{{"rows_per_second", rows / took},
                   {"draws_per_observation", drawn},
                   {"chains", kChains},
                   {"of_sgd", rows / took / limit}};
  });
}

// Each question has other columns.
void predictions(Runs& runs, const Shape& shape, const SparseRows& rows, Fed& fed,
                 std::size_t count, double single) {
  Reader reader = value_or_throw(fed.engine().reader());
  std::vector<PredictiveSummary> summaries(count);
  std::vector<std::uint32_t> ends;
  for (std::size_t i = 1; i <= count; ++i) {
    ends.push_back(static_cast<std::uint32_t>(i * shape.nonzeros));
  }
  Provenance provenance;
  PredictRequest request;
  request.rows = count;
  request.row_ends = ends;
  request.features = {rows.ones(), count * shape.nonzeros};
  std::uint64_t next = 0;
  const auto ask = [&] {
    request.indices = {rows.indices(next), count * shape.nonzeros};
    next = next + 2 * count > rows.size() ? 0 : next + count;
    require(reader.predict(request, summaries, provenance), "predicting");
  };
  Histogram latency;
  runs.add(fmt::format("predict {} rows={}", name_of(shape), count), [&] {
    const double seconds = fastest(runs.budget() / 4, ask);
    for (const double end = thread_seconds() + runs.budget() / 4; thread_seconds() < end;) {
      record(latency, ask);
    }
    const double a_row = seconds / static_cast<double>(count);
    return Figures{{"us", 1e6 * seconds},
                   {"us_per_row", 1e6 * a_row},
                   {"rate_over_single", single > 0 ? single / (1e6 * a_row) : 1.0},
                   {"draws", static_cast<double>(provenance.draws)}};
  });
  runs.last()["latency"] = percentiles(latency);
}

void learning(Runs& runs, const BenchOptions& options, Json& limits) {
  const Shape shape = shape_of(options, kColumns);
  for (const ColumnLaw law : {ColumnLaw::kEven, ColumnLaw::kZipf}) {
    const std::string columns = law == ColumnLaw::kEven ? "even" : "zipf";
    for (const bool weights : {false, true}) {
      const SparseRows rows(shape.features, shape.nonzeros, 2 * shape.window, law, weights);
      const auto size = static_cast<double>(rows.size());
      const double plain =
          size / descent_seconds(rows, shape.features, SparseDescent::Rule::kPlain);
      if (!weights) {
        const double adaptive =
            size / descent_seconds(rows, shape.features, SparseDescent::Rule::kAdaptive);
        const double theirs = size / vowpal_wabbit_seconds(rows, shape.features);
        limits[columns] = {{"sgd_rows_per_second", plain},
                           {"adagrad_rows_per_second", adaptive},
                           {"vw_rows_per_second", std::isfinite(theirs) ? Json(theirs) : Json()}};
      }
      Fed fed(config_of(shape, 64, weights), rows);
      fed.fill();
      const std::string name = columns + (weights ? " weights" : "");
      learn_in_turns(runs, shape, name, fed, plain);
      learn_beside(runs, shape, name, fed, plain);
      if (weights || law != ColumnLaw::kEven) continue;
      predictions(runs, shape, rows, fed, 1, 0);
      predictions(runs, shape, rows, fed, 256, runs.last()["us"].get<double>());
    }
  }
}

// The planned memory, and the resident memory once rows have touched all their pages.
void memory(Runs& runs, const BenchOptions& options) {
  constexpr double kGiB = 1U << 30;
  const Shape shape = shape_of(options, kManyColumns);
  const SparseRows rows(shape.features, shape.nonzeros, shape.window, ColumnLaw::kEven, false);
  const std::size_t before = resident_bytes();
  Fed fed(config_of(shape, 32, false), rows);
  fed.fill();
  for (const double end = thread_seconds() + runs.budget(); thread_seconds() < end;) fed.round();
  runs.add(fmt::format("memory {} draws=32", name_of(shape)), [&] {
    fed.round();
    const auto grown = static_cast<double>(resident_bytes() - before);
    const auto planned = static_cast<double>(fed.bytes());
    return Figures{{"planned_bytes", planned},
                   {"planned_gib", planned / kGiB},
                   {"resident_grew_bytes", grown},
                   {"resident_of_planned", grown / planned}};
  });
}

// The time from nothing to the first answer, which is that of the prior.
void start(Runs& runs, const BenchOptions& options) {
  const Shape shape = shape_of(options, kManyColumns);
  const EngineConfig config = config_of(shape, 32, false);
  runs.add(fmt::format("start {}", name_of(shape)), [&] {
    const double begin = wall_seconds();
    const OwnedEngine engine(config);
    Reader reader = value_or_throw(engine->reader());
    const std::uint32_t index = 0;
    const std::uint32_t end = 1;
    const double one = 1;
    PredictRequest request;
    request.rows = 1;
    request.indices = {&index, 1};
    request.row_ends = {&end, 1};
    request.features = {&one, 1};
    PredictiveSummary summary;
    Provenance provenance;
    require(reader.predict(request, {&summary, 1}, provenance), "predicting");
    return Figures{{"seconds_to_first_answer", wall_seconds() - begin}};
  });
}

}  // namespace

Json run_sparse(const BenchOptions& options) {
  Runs runs(options.seconds > 0 ? options.seconds : 1);
  Json limits = Json::object();
  start(runs, options);
  memory(runs, options);
  learning(runs, options, limits);
  return {{"limits", limits}, {"runs", runs.take()}};
}

}  // namespace windhover
