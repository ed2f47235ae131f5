// Everything at once, for some seconds (mixed) or minutes (soak): rows on 32 connections at half of
// saturation, and on eight others single predictions, batches of 16, and summaries of the posterior
// and of the server.
#include "windhover/tools/bench/harness.h"

namespace windhover {

namespace {

constexpr std::uint32_t kConnections = 8;

std::vector<QuestionKind> kinds(std::uint32_t features, std::uint32_t nonzeros) {
  return {{"predict", predict_frame(features, 1, nonzeros), 1},
          {"predict_16", predict_frame(features, 16, nonzeros), 10},
          {"posterior", posterior_frame(), 101},
          {"status", status_frame(), 103}};
}

// The only value of an option; `otherwise` where it has none.
std::uint32_t only(const char* option, const std::vector<std::uint32_t>& list,
                   std::uint32_t otherwise) {
  if (list.size() > 1) {
    throw UserError(
        fmt::format("{} takes one value for mixed and soak, not {}", option, list.size()));
  }
  return list.empty() ? otherwise : list.front();
}
std::uint32_t only_dimension(const BenchOptions& o) {
  return only("--dimension", o.dimensions, o.nonzeros > 0 ? 461 : 100);
}
std::uint32_t asking(const BenchOptions& o) {
  return only("--connections", o.connections, kConnections);
}

struct Mixture {
  explicit Mixture(const BenchOptions& o, std::uint32_t dimension)
      : config(served_config(o, dimension, o.nonzeros)),
        options{.max_sessions = std::max(64U, asking(o) + 4)},
        rows(load_rows(dimension, o.nonzeros)),
        kinds_of(kinds(dimension - 1, o.nonzeros)),
        served(config, options) {
    settle(served, rows, false);
    saturating = saturating_rate(served, rows);
    source.emplace(served.observe_address(), rows,
                   LoadPlan{o.rate > 0 ? o.rate : 0.5 * saturating, kLoadConnections});
    sleep_for(0.5);
  }

  EngineConfig config;
  ServedOptions options;
  LoadRows rows;
  double saturating = 0;
  std::vector<QuestionKind> kinds_of;
  ServedEngine served;
  std::optional<FrameSource> source;
};

// Asks for `seconds` and returns the run.
Json ask(Mixture& mixture, const BenchOptions& o, std::string name, double seconds) {
  QuestionSource questions(mixture.served.query_address(), mixture.kinds_of, asking(o),
                           o.query_rate);
  const IngestSpan ingest(mixture.served);
  const ProcessSpan span;
  questions.ask(seconds);
  Json process = span.figures();
  mixture.source->check();
  Json out = {{"name", std::move(name)}};
  out.update(ingest.figures());
  out["unanswered"] = questions.unanswered();
  out["refused"] = questions.refused();
  out.update(process);
  for (std::size_t k = 0; k < mixture.kinds_of.size(); ++k) {
    out[mixture.kinds_of[k].name] = percentiles(questions.latency(k));
  }
  return out;
}

}  // namespace

Json run_mixed(const BenchOptions& options) {
  const std::uint32_t dimension = only_dimension(options);
  (void)asking(options);  // refuses wrong options before measuring
  const StreamLimits tcp = measure_stream(StreamKind::kTcp, 0.5);
  Mixture mixture(options, dimension);
  const double seconds = options.seconds > 0 ? options.seconds : 10;
  Json run = ask(mixture, options, fmt::format("D={} mixed", dimension), seconds);
  const Json& p50 = run["predict"]["p50_us"];
  if (p50.is_number()) {
    run["p50_of_round_trip"] = p50.get<double>() / tcp.round_trip_p50_us;
  }
  // The server does not distinguish them: batches of 16 and summaries of the posterior are
  // included.
  run["handler_of_all_kinds"] = percentiles(mixture.served.server().query().latency);
  return {{"query_rate", options.query_rate},
          {"limits", {{"tcp", to_json(tcp)}, {"saturating_rows_per_second", mixture.saturating}}},
          {"runs", Json::array({std::move(run)})}};
}

Json run_soak(const BenchOptions& options) {
  const std::uint32_t dimension = only_dimension(options);
  (void)asking(options);
  Mixture mixture(options, dimension);
  // At most twenty slices, each at least a second long.
  const double total = 60 * options.minutes;
  const double slice = std::max(std::min(1.0, total), total / 20);
  Json runs = Json::array();
  const int slices = static_cast<int>(std::ceil(total / slice - 1e-9));
  for (int i = 0; i < slices; ++i) {
    const double done = i * slice;
    const std::string name = fmt::format("{:.3g} s", std::min(total, done + slice));
    runs.push_back(ask(mixture, options, name, std::min(slice, total - done)));
  }
  const double first = runs.front()["resident_bytes"].get<double>();
  const double last = runs.back()["resident_bytes"].get<double>();
  return {{"minutes", options.minutes},
          {"observations", mixture.served.engine().head()},
          {"resident_growth_bytes", last - first},
          {"limits", {{"saturating_rows_per_second", mixture.saturating}}},
          {"runs", std::move(runs)}};
}

}  // namespace windhover
