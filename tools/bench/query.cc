// The latency of one prediction over TCP, asked for in an open loop: alone, while rows stream in on
// 32 connections at shares of the rate that saturates the server, and with a learner that never
// rests.
#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>

#include "windhover/platform/thread.h"
#include "windhover/tools/bench/load.h"
#include "windhover/tools/bench/machine.h"
#include "windhover/tools/bench/question_source.h"
#include "windhover/tools/bench/timing.h"

namespace windhover {

namespace {

struct Condition {
  std::uint32_t dimension;
  std::uint32_t connections;
  double share;                // of saturation; 1: as fast as the server takes them
  bool busy = false;           // the learner never rests
  std::uint32_t nonzeros = 0;  // 0: dense rows
  double seconds = 1.5;
};

// Without options: every condition at the middle dimension, the other two and sparse rows at half
// of saturation. What is quoted is asked for long enough to resolve p99.9.
std::vector<Condition> conditions(const BenchOptions& o) {
  if (o.dimensions.empty() && o.connections.empty() && o.shares.empty()) {
    constexpr double kLong = 5.1;
    return {{.dimension = 100, .connections = 1, .share = 0, .seconds = kLong},
            {.dimension = 100, .connections = 1, .share = 0.5, .seconds = kLong},
            {.dimension = 100, .connections = 1, .share = 1, .seconds = kLong},
            {.dimension = 100, .connections = 1, .share = 0, .busy = true},
            {.dimension = 100, .connections = 32, .share = 0.5},
            {.dimension = 100, .connections = 256, .share = 0.5},
            {.dimension = 10, .connections = 1, .share = 0.5},
            {.dimension = 461, .connections = 1, .share = 0.5, .nonzeros = 8},
            {.dimension = 1000, .connections = 1, .share = 0.5}};
  }
  const std::vector<double> shares = o.shares.empty() ? std::vector<double>{0, 0.5, 1} : o.shares;
  std::vector<Condition> out;
  for (const auto dimension : list_or(o.dimensions, {o.nonzeros > 0 ? 461U : 100U})) {
    for (const auto connections : list_or(o.connections, {1})) {
      for (const double share : shares) {
        out.push_back({dimension, connections, share, false, o.nonzeros});
      }
      out.push_back({dimension, connections, 0, true, o.nonzeros});
    }
  }
  return out;
}

// Of a window: of many parameters a posterior of 100,000 rows settles for tens of seconds.
constexpr std::uint64_t kMostCells = 10'000'000;

std::string name_of(const Condition& c) {
  std::string load = "idle";
  if (c.busy) load = "learner busy";
  if (c.share > 0) load = fmt::format("ingest {:.0f}%", 100 * c.share);
  return fmt::format("D={} {}{} conn {}", c.dimension, c.nonzeros > 0 ? "sparse " : "",
                     c.connections, load);
}

// Puts the calling thread before the others while it lives, as far as permitted. Threads inherit
// from the one that makes them, so only around what makes none.
class Raised {
 public:
  explicit Raised(bool wanted) : wanted_(wanted) {
    if (!wanted_) return;
    (void)pthread_getschedparam(pthread_self(), &policy_, &before_);
    warnings_ = configure_this_thread({.name = nullptr, .fifo_priority = 40});
  }
  ~Raised() {
    if (wanted_) (void)pthread_setschedparam(pthread_self(), policy_, &before_);
  }
  Raised(const Raised&) = delete;
  Raised& operator=(const Raised&) = delete;

  std::uint32_t warnings() const { return warnings_; }

 private:
  bool wanted_;
  int policy_ = 0;
  sched_param before_{};
  std::uint32_t warnings_ = 0;
};

// What --real-time asked for and the machine permitted.
Json permitted(const ServedEngine& served, std::uint32_t asker) {
  const auto prioritised = [](std::uint32_t warnings) {
    return (warnings & kThreadNotPrioritised) == 0;
  };
  return {{"memory_locked", served.memory_locked()},
          {"query_thread_prioritised", prioritised(served.query_thread_warnings())},
          {"asker_prioritised", prioritised(asker)}};
}

// Enough rows for a posterior, then silence until it has settled and, if `rest`, the learner rests.
void settle(ServedEngine& served, const LoadRows& rows, bool rest) {
  {
    const FrameSource source(served.observe_address(), rows, {});
    const auto enough = std::min<std::uint64_t>(30'000, served.engine().config().window_size);
    for (int i = 0; i < 500 && served.engine().head() < enough; ++i) sleep_for(0.01);
    source.check();
  }
  wait_until_settled(served, rest);
}

Json run_condition(const BenchOptions& o, const Condition& c, double saturating,
                   double round_trip_us) {
  EngineConfig config = served_config(o, c.dimension, c.nonzeros);
  if (c.busy) config.draws_per_observation = 0;
  config.window_size = std::min<std::uint64_t>(config.window_size, kMostCells / c.dimension);
  ServedEngine served(config,
                      {.max_sessions = std::max(64U, c.connections + 4), .real_time = o.real_time});
  const LoadRows rows{.features = c.dimension - 1,
                      .nonzeros = c.nonzeros,
                      .rows_per_frame = rows_that_fit(kLoadRowsPerFrame, c.dimension, c.nonzeros)};
  settle(served, rows, c.share == 0 && !c.busy);
  std::unique_ptr<FrameSource> source;
  if (c.share > 0) {
    const double rate = c.share >= 1 ? 0 : c.share * saturating;
    source = std::make_unique<FrameSource>(served.observe_address(), rows,
                                           LoadPlan{rate, kLoadConnections});
    sleep_for(0.5);
  }
  QuestionSource questions(served.query_address(),
                           {{"predict", predict_frame(c.dimension - 1, 1, c.nonzeros)}},
                           c.connections, o.query_rate);
  const double seconds = o.seconds > 0 ? o.seconds : c.seconds;
  const auto accepted = served.engine().counters().get(RuntimeCounter::kRowsAccepted);
  const double start = wall_seconds();
  const ProcessSpan span;
  std::uint32_t warnings = 0;
  {
    const Raised raised(o.real_time);
    warnings = raised.warnings();
    questions.ask(seconds);
  }
  Json process = span.figures();
  if (source) source->check();
  const double took = wall_seconds() - start;
  const auto rows_in = served.engine().counters().get(RuntimeCounter::kRowsAccepted) - accepted;
  Json out = {{"name", name_of(c)},
              {"rows_per_second", static_cast<double>(rows_in) / took},
              {"unanswered", questions.unanswered()},
              {"refused", questions.refused()}};
  out["p50_of_round_trip"] =
      static_cast<double>(questions.latency(0).quantile(0.5)) / 1e3 / round_trip_us;
  out.update(process);
  out["latency"] = percentiles(questions.latency(0));
  out["from_send"] = percentiles(questions.from_send());
  out["generator_late"] = percentiles(questions.late());
  out["handler"] = percentiles(served.server().query_latency());
  if (o.real_time) out["real_time"] = permitted(served, warnings);
  return out;
}

}  // namespace

Json run_query(const BenchOptions& options) {
  const StreamLimits tcp = measure_stream(StreamKind::kTcp, 0.5);
  const StreamLimits local = measure_stream(StreamKind::kUnix, 0.5);
  Json out = {{"draws", EngineConfig{}.retained_draws},
              {"query_rate", options.query_rate},
              {"limits", {{"tcp", to_json(tcp)}, {"unix", to_json(local)}}},
              {"runs", Json::array()}};
  std::uint32_t measured = 0;  // the dimension whose saturation is known
  double saturating = 0;
  for (const Condition& c : conditions(options)) {
    if (c.dimension != measured && c.share > 0) {
      saturating = saturating_rate(options, c.dimension, c.nonzeros);
      measured = c.dimension;
      out["limits"][fmt::format("saturating_rows_per_second_{}", c.dimension)] = saturating;
    }
    out["runs"].push_back(run_condition(options, c, saturating, tcp.round_trip_p50_us));
  }
  return out;
}

}  // namespace windhover
