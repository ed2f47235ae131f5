// How soon detectors report a change of the stream, and how often they report one when there is
// none.
#include "windhover/platform/random.h"
#include "windhover/tools/error.h"
#include "windhover/tools/owned_engine.h"
#include "windhover/tools/reproduce/change_detectors.h"
#include "windhover/tools/reproduce/harness.h"

namespace windhover::reproduce {
namespace {

constexpr Index kColumns = 4;
constexpr Index kFrameRows = 10;      // rows that come at a time
constexpr Index kSettled = 4000;      // rows before alarms count
constexpr Index kChange = 6000;       // the first row of another law
constexpr Index kWaits = 4000;        // rows in which a change may be reported
constexpr Index kQuietRows = 40'000;  // a stream without a change
constexpr double kWindowRows = 2000;

// y = b x_1 + x_2 + mean + sd N(0, 1), x ~ N(0, I), b = 1, sd = 1 before the change.
struct Change {
  const char* key;
  const char* name;
  double coefficient = 0;  // added to b
  double over = 1;         // rows over which the change is spread
  double mean = 0;
  double sd = 1;
};
constexpr Change kChanges[] = {
    {.key = "jump-02", .name = "a coefficient jumps by 0.2", .coefficient = 0.2},
    {.key = "jump-05", .name = "a coefficient jumps by 0.5", .coefficient = 0.5},
    {.key = "jump-10", .name = "a coefficient jumps by 1", .coefficient = 1},
    {.key = "slope",
     .name = "a coefficient goes up by 0.5 in 2,000 rows",
     .coefficient = 0.5,
     .over = 2000},
    {.key = "mean", .name = "the mean jumps by 0.5", .mean = 0.5},
    {.key = "wider", .name = "the noise becomes 1.5 times as wide", .sd = 1.5},
    {.key = "narrower", .name = "the noise becomes 0.67 times as wide", .sd = 0.67},
};
constexpr Change kNone{.key = "none", .name = "nothing changes"};

// In the order of `alarms` in run_stream().
constexpr std::array kMethods = {"Windhover, a window of 2,000", "Windhover, adaptive", "ADWIN",
                                 "Page-Hinkley"};

EngineConfig config_of(Horizon horizon, std::uint64_t seed) {
  EngineConfig config;
  config.model = {.name = "linear", .features = kColumns};
  config.horizon = horizon;
  config.window_size =
      horizon == Horizon::kWindow ? static_cast<std::uint64_t>(kWindowRows) : 100'000;
  config.window_slack = 1024;
  config.max_frame_rows = 256;
  config.max_query_rows = kFrameRows;
  config.seed = seed;
  return config;
}

// An engine that predicts each frame before it learns from it.
class Watched {
 public:
  explicit Watched(const EngineConfig& config)
      : engine_(config, &clock_), reader_(value_or_throw(engine_->reader())) {}

  // Takes rows of kColumns numbers and their y. Whether the engine reports a change.
  bool feed(const double* x, const double* y) {
    Provenance provenance;
    PredictRequest request;
    request.rows = kFrameRows;
    request.features = {x, static_cast<std::size_t>(kFrameRows * kColumns)};
    if (!ok(reader_.predict(request, answers_, provenance))) throw RunError("no answer");
    const ObservationBatch batch = dense_batch(x, y, kFrameRows, kColumns);
    while (engine_->observe(batch, {}).status == Status::kWindowFull) engine_->poll(1);
    engine_->poll(static_cast<int>(64 * kFrameRows));
    return says_change();
  }
  // The place of y[i] in its prediction, -1 to 1: uniform where predictions are right.
  double place(const double* y, Index i) const {
    const PredictiveSummary& answer = answers_[static_cast<std::size_t>(i)];
    return std::erf((y[i] - answer.mean) / (std::sqrt(2.0) * answer.sd));
  }

 private:
  // A new event: the newest rows are unlike earlier ones, predictions fail, or a memory has been
  // cut to less than half.
  bool says_change() {
    reader_.events(list_);
    bool says = false;
    for (const Event& event : list_.all()) {
      if (event.id <= seen_) continue;
      const bool reason =
          event.reason == StatusReason::kDrift || event.reason == StatusReason::kPredictive;
      const bool shorter = event.kind == EventKind::kResized && event.number < 0.5 * event.before;
      says = says || event.kind == EventKind::kDrift || reason || shorter;
    }
    seen_ = list_.total;
    return says;
  }

  ManualClock clock_;
  OwnedEngine engine_;
  Reader reader_;
  EventList list_;
  std::uint64_t seen_ = 0;
  std::array<PredictiveSummary, kFrameRows> answers_;
};

// Fills a frame whose first row is number `row` of the stream.
void fill_frame(const Change& change, std::uint64_t seed, Index row, double* x, double* y) {
  for (Index i = 0; i < kFrameRows; ++i) {
    std::array<double, kColumns + 1> normals{};
    Rng rng(seed, {static_cast<std::uint64_t>(row + i), 0, Purpose::kTest});
    rng.fill_normals(normals);
    std::copy_n(normals.data(), kColumns, x + i * kColumns);
    const auto since = static_cast<double>(row + i - kChange + 1);
    const bool other = since > 0;
    const double b = 1 + change.coefficient * std::clamp(since / change.over, 0.0, 1.0);
    y[i] = b * normals[0] + normals[1] + (other ? change.mean : 0) +
           (other ? change.sd : 1) * normals[kColumns];
  }
}

// Lists with an entry per method: "alarms" after kSettled and before kChange, or to the end where
// nothing changes; and "delays", rows from the change to the first alarm, at most kWaits.
ordered_json run_stream(const Change& change, Index rows, std::uint64_t seed) {
  Watched window(config_of(Horizon::kWindow, seed));
  Watched adaptive(config_of(Horizon::kAdaptive, seed));
  Adwin adwin[2];
  PageHinkley page_hinkley[2];
  std::vector<double> alarms(kMethods.size(), 0.0);
  std::vector<double> delays(kMethods.size(), static_cast<double>(kWaits));
  const bool quiet = &change == &kNone;
  const auto alarm = [&](std::size_t method, Index row) {
    if (row < kSettled) return;
    if (quiet || row < kChange) {
      alarms[method] += 1;
    } else {
      delays[method] = std::min(delays[method], static_cast<double>(row - kChange + 1));
    }
  };
  std::array<double, kFrameRows * kColumns> x;
  std::array<double, kFrameRows> y;
  for (Index row = 0; row < rows; row += kFrameRows) {
    fill_frame(change, seed, row, x.data(), y.data());
    const Index last = row + kFrameRows - 1;
    if (window.feed(x.data(), y.data())) alarm(0, last);
    if (adaptive.feed(x.data(), y.data())) alarm(1, last);
    for (Index i = 0; i < kFrameRows; ++i) {
      // The first detector sees a shifted mean, the second predictions that are too wide or too
      // narrow.
      const double place = window.place(y.data(), i);
      const double errors[] = {0.5 + 0.5 * place, std::abs(place)};
      for (std::size_t which : {0u, 1u}) {
        if (adwin[which].add(errors[which])) alarm(2, row + i);
        if (page_hinkley[which].add(errors[which])) alarm(3, row + i);
      }
    }
  }
  return {{"alarms", alarms}, {"delays", delays}};
}

std::size_t streams(const Context& context) { return context.choose<std::size_t>(10, 100); }

std::vector<Estimate> add_change(const Context& context, const Change& change, Report& report) {
  const Runs runs =
      replicated(context, change.key, change.name, streams(context),
                 [&](std::uint64_t seed) { return run_stream(change, kChange + kWaits, seed); });
  std::vector<Estimate> delays;
  for (std::size_t m = 0; m < kMethods.size(); ++m) delays.push_back(mean_of(runs, "delays", m));
  Table table(report, change.name);
  for (std::size_t m = 0; m < kMethods.size(); ++m) {
    table.add(fmt::format("{}: rows until it is said", kMethods[m]), delays[m]);
    const std::vector<double> all = values_of(runs, "delays", m);
    const auto missed = std::ranges::count(all, static_cast<double>(kWaits));
    table.add(fmt::format("{}: share of streams where it is not", kMethods[m]),
              static_cast<double>(missed) / static_cast<double>(all.size()));
  }
  return delays;
}

void add_quiet(const Context& context, Report& report) {
  const Runs runs =
      replicated(context, kNone.key, kNone.name, streams(context),
                 [&](std::uint64_t seed) { return run_stream(kNone, kQuietRows, seed); });
  Table table(report, kNone.name);
  constexpr double kScale = 1e5 / static_cast<double>(kQuietRows - kSettled);
  for (std::size_t m = 0; m < kMethods.size(); ++m) {
    table
        .add(fmt::format("{}: alarms in 100,000 rows", kMethods[m]),
             kScale * mean_of(runs, "alarms", m))
        .held_to(when(m < 2, at_most(1)));
  }
}

}  // namespace

void run_detection(const Context& context, Report& report) {
  report.plot().panel_width = 960;
  Panel panel = Panel{"Rows until a change is said", "", "rows, at most 4,000"}.log("y").legend_at(
      "outside top center horizontal");
  std::vector<Series> series;
  for (std::size_t m = 0; m < kMethods.size(); ++m) {
    series.push_back(Series::points(kMethods[m], static_cast<int>(m)));
  }
  for (std::size_t c = 0; c < std::size(kChanges); ++c) {
    context.progress(0.1 * static_cast<double>(c), kChanges[c].name);
    const std::vector<Estimate> delays = add_change(context, kChanges[c], report);
    for (std::size_t m = 0; m < delays.size(); ++m) {
      series[m].add(static_cast<double>(c) + 0.12 * (static_cast<double>(m) - 1.5), delays[m]);
    }
    panel.categories.push_back(kChanges[c].key);
  }
  context.progress(0.7, kNone.name);
  add_quiet(context, report);
  panel.series = series;
  report.add(panel);
  report.note(
      "Linear rows of 4 features, 10 at a time; the change comes at row {}. Windhover says that "
      "the newest rows are unlike the others (`drifting`), that predictions are not borne out "
      "(`predictive`), or cuts its memory to less than half. ADWIN (delta = 0.002) and "
      "Page-Hinkley (tolerance 0.005, threshold 50), two of each, are given where y fell in the "
      "prediction of the engine with the window, 0 to 1, and how far from its middle; the sooner "
      "alarm counts. Alarms before row {} do not count, a change that is not said in {} rows "
      "counts as that many.",
      kChange, kSettled, kWaits);
  report.note(
      "Bars: both horizons say at most one in 100,000 rows where there is no change. A window of "
      "2,000 rows by itself does not tell of noise that gets wider or narrower: its predictions "
      "have followed before it is certain.");
}

}  // namespace windhover::reproduce
