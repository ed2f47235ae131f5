// The latency of one prediction over TCP or Unix-domain sockets, in an open loop: alone, while rows
// stream in on 32 connections at shares of the saturating rate, and with a learner that never
// rests.
#include <pthread.h>

#include <map>

#include "windhover/tools/bench/harness.h"

namespace windhover {

namespace {

struct Condition {
  std::uint32_t dimension = 100;
  std::uint32_t connections = 1;
  double share = 0;            // of saturation; 1: as fast as the server takes them
  bool busy = false;           // the learner never rests
  std::uint32_t nonzeros = 0;  // 0: dense rows
  double seconds = 1.5;
  double rate = 0;  // questions a second; 0: what the options say
  bool unix_sockets = false;
  bool asker_beside = false;  // with --real-time: on the processor of the query thread
};

// Without options: every load at D = 100, half of saturation at D = 10, and one condition without
// TCP. What is quoted is asked for long enough to resolve p99.9, and once often enough for p99.99.
std::vector<Condition> conditions(const BenchOptions& o) {
  if (o.dimensions.empty() && o.connections.empty() && o.shares.empty() && o.nonzeros == 0) {
    constexpr double kLong = 5.1;
    std::vector<Condition> out = {{.seconds = kLong},
                                  {.share = 0.5, .seconds = kLong},
                                  {.share = 1, .seconds = kLong},
                                  {.busy = true},
                                  {.dimension = 10, .share = 0.5}};
    if (o.real_time && last_processor() >= 0) {
      out.push_back({.share = 0.5, .seconds = kLong, .asker_beside = true});
    }
    if (!o.unix_sockets) out.insert(out.begin() + 4, {.unix_sockets = true});
    out.insert(out.begin() + 2, {.share = 0.5, .seconds = 8.1, .rate = 12'500});
    for (Condition& c : out) c.unix_sockets = c.unix_sockets || o.unix_sockets;
    return out;
  }
  const std::vector<double> shares = o.shares.empty() ? std::vector<double>{0, 0.5, 1} : o.shares;
  std::vector<Condition> out;
  for (const auto dimension : list_or(o.dimensions, {o.nonzeros > 0 ? 461U : 100U})) {
    for (const auto connections : list_or(o.connections, {1})) {
      Condition c{.dimension = dimension,
                  .connections = connections,
                  .nonzeros = o.nonzeros,
                  .unix_sockets = o.unix_sockets};
      for (const double share : shares) {
        c.share = share;
        out.push_back(c);
      }
      // Options that name shares ask for these alone.
      if (!o.shares.empty()) continue;
      c.share = 0;
      c.busy = true;
      out.push_back(c);
    }
  }
  return out;
}

std::string name_of(const Condition& c) {
  std::string load = "idle";
  if (c.busy) load = "learner busy";
  if (c.share > 0) load = fmt::format("ingest {:.0f}%", 100 * c.share);
  return fmt::format("D={} {}{} conn {}{}{}{}", c.dimension, c.nonzeros > 0 ? "sparse " : "",
                     c.connections, load, c.unix_sockets ? " Unix" : "",
                     c.rate > 0 ? fmt::format(" {} a second", c.rate) : "",
                     c.asker_beside ? " asked from its processor" : "");
}

// Gives the calling thread a FIFO priority while this object lives, and pins it to `cpu` unless
// that is -1, as far as permitted. Threads inherit this from the thread that starts them, so no
// thread may be started meanwhile.
class Raised {
 public:
  Raised(bool wanted, int cpu) : wanted_(wanted) {
    if (!wanted_) return;
    (void)pthread_getschedparam(pthread_self(), &policy_, &before_);
    (void)pthread_getaffinity_np(pthread_self(), sizeof(processors_), &processors_);
    warnings_ = configure_this_thread({.name = nullptr, .cpu = cpu, .fifo_priority = 40});
  }
  ~Raised() {
    if (!wanted_) return;
    (void)pthread_setschedparam(pthread_self(), policy_, &before_);
    (void)pthread_setaffinity_np(pthread_self(), sizeof(processors_), &processors_);
  }
  Raised(const Raised&) = delete;
  Raised& operator=(const Raised&) = delete;

  std::uint32_t warnings() const { return warnings_; }

 private:
  bool wanted_;
  int policy_ = 0;
  sched_param before_{};
  cpu_set_t processors_{};
  std::uint32_t warnings_ = 0;
};

// What the machine permitted of --real-time.
Json permitted(ServedEngine& served, std::uint32_t asker) {
  const auto prioritised = [](std::uint32_t warnings) {
    return (warnings & kThreadNotPrioritised) == 0;
  };
  const std::uint32_t query = served.server().query().thread_warnings;
  const bool pinned = last_processor() >= 0 && (query & kThreadNotPinned) == 0;
  return {{"memory_locked", served.memory_locked()},
          {"query_thread_pinned", pinned},
          {"query_thread_prioritised", prioritised(query)},
          {"asker_prioritised", prioritised(asker)}};
}

EngineConfig config_of(const BenchOptions& o, const Condition& c) {
  EngineConfig config = served_config(o, c.dimension, c.nonzeros);
  if (c.busy) config.draws_per_observation = 0;
  return config;
}

ServedOptions server_of(const BenchOptions& o, const Condition& c) {
  return {.max_sessions = std::max(64U, c.connections + 4),
          .real_time = o.real_time,
          .unix_sockets = c.unix_sockets};
}

// `saturating` is measured on this engine where it is needed and still 0.
Json run_condition(const BenchOptions& o, const Condition& c, double& saturating,
                   double round_trip_us) {
  ServedEngine served(config_of(o, c), server_of(o, c));
  const LoadRows rows = load_rows(c.dimension, c.nonzeros);
  settle(served, rows, c.share == 0 && !c.busy);
  std::unique_ptr<FrameSource> source;
  if (c.share > 0) {
    if (saturating == 0) saturating = saturating_rate(served, rows);
    const double rate = c.share >= 1 ? 0 : c.share * saturating;
    source = std::make_unique<FrameSource>(served.observe_address(), rows,
                                           LoadPlan{rate, kLoadConnections});
    sleep_for(0.5);
  }
  QuestionSource questions(served.query_address(),
                           {{"predict", predict_frame(c.dimension - 1, 1, c.nonzeros)}},
                           c.connections, c.rate > 0 ? c.rate : o.query_rate);
  const double seconds = o.seconds > 0 ? o.seconds : c.seconds;
  const IngestSpan ingest(served);
  const ProcessSpan span;
  std::uint32_t warnings = 0;
  {
    const Raised raised(o.real_time, c.asker_beside ? last_processor() : -1);
    warnings = raised.warnings();
    questions.ask(seconds);
  }
  Json process = span.figures();
  Json out = {{"name", name_of(c)}};
  out.update(ingest.figures());
  if (source) source->check();
  out["unanswered"] = questions.unanswered();
  out["refused"] = questions.refused();
  out["p50_of_round_trip"] =
      static_cast<double>(questions.latency(0).quantile(0.5)) / 1e3 / round_trip_us;
  out.update(process);
  out["latency"] = percentiles(questions.latency(0));
  out["from_send"] = percentiles(questions.from_send());
  out["generator_late"] = percentiles(questions.late());
  out["handler"] = percentiles(served.server().query().latency);
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
  // The saturating rate for each kind of rows and sockets.
  std::map<std::string, double> saturating;
  for (const Condition& c : conditions(options)) {
    const std::string what =
        fmt::format("saturating_rows_per_second_{}{}{}", c.dimension,
                    c.nonzeros > 0 ? "_sparse" : "", c.unix_sockets ? "_unix" : "");
    double& rate = saturating[what];
    const StreamLimits& limits = c.unix_sockets ? local : tcp;
    out["runs"].push_back(run_condition(options, c, rate, limits.round_trip_p50_us));
    if (rate > 0) out["limits"][what] = rate;
  }
  return out;
}

}  // namespace windhover
