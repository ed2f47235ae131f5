// The latency of one client's questions, at a fixed rate: alone, beside each kind of hostile peers,
// and beside all of them at once. Rows go on meanwhile, and clients come to ask one question.
#include <algorithm>
#include <random>

#include "windhover/io/descriptors.h"
#include "windhover/tools/bench/harness.h"
#include "windhover/tools/bench/hostile_peers.h"
#include "windhover/tools/bench/loopback.h"

namespace windhover {

namespace {

constexpr std::uint32_t kHogs = 16;        // connections that ask
constexpr std::uint32_t kPagers = 4;       // connections that page through draws
constexpr std::uint32_t kCrowd = 100;      // connections that only connect, at a time
constexpr std::uint32_t kStrangers = 256;  // connections that come, say nothing and stay
constexpr double kStrangersPerSecond = 300;
constexpr std::uint32_t kManyAddresses = 250;
constexpr double kNewcomersPerSecond = 20;
constexpr double kGarbage = 10e6;          // bytes a second
constexpr double kRowsPerSecond = 20'000;  // sent meanwhile
constexpr std::size_t kMostDescriptors = 4'000;

struct Attack {
  std::string name;
  HostilePlan plan;
  bool http_too = false;
};

std::string broad_frame(std::uint32_t features) {
  v1::Request request;
  request.set_id(1);
  v1::Predict& predict = *request.mutable_predict();
  const std::uint32_t most = (ServerConfig{}.frame_cap - 1024) / 8 / features;
  predict.set_rows(std::min(EngineConfig{}.max_query_rows, most));
  for (std::uint32_t i = 0; i < predict.rows() * features; ++i) predict.add_features_f64(0.1);
  for (std::size_t i = 1; i <= kMaxQuantiles; ++i) {
    predict.add_quantile_probabilities(static_cast<double>(i) / (kMaxQuantiles + 1.0));
  }
  for (std::size_t i = 0; i < kMaxThresholds; ++i) {
    predict.add_thresholds(static_cast<double>(i));
  }
  return framed(request);
}

std::string draws_frame() {
  v1::Request request;
  request.set_id(1);
  request.mutable_draws()->set_count(1);
  return framed(request);
}

std::string garbage() {
  std::mt19937 random(1);
  std::string out(1 << 16, '\0');
  for (char& byte : out) byte = static_cast<char>(random());
  return out;
}

HostilePlan strangers_from(std::uint32_t addresses) {
  return {.frames = {},
          .connections = kStrangers,
          .greets = false,
          .lets_go = true,
          .comes_per_second = kStrangersPerSecond,
          .addresses = addresses};
}

std::vector<Attack> attacks(std::uint32_t features) {
  return {{"asks", {.frames = broad_frame(features), .connections = kHogs}},
          {"pages", {.frames = draws_frame(), .connections = kPagers}},
          {"connects", {.frames = {}, .connections = kCrowd, .greets = false, .lets_go = true}},
          {"comes and stays", strangers_from(1), true},
          {"comes from many addresses", strangers_from(kManyAddresses), true},
          {"sends garbage", {.frames = garbage(), .bytes_per_second = kGarbage}}};
}

struct Quiet {
  double p50 = 0;
  double p99 = 0;
};

double number_or_0(const Json& figure) { return figure.is_number() ? figure.get<double>() : 0; }

// Measures the client beside these attacks.
Json run_beside(ServedEngine& served, const BenchOptions& o, const std::string& name,
                const std::vector<Attack>& all, Quiet& quiet) {
  const std::uint32_t features = served.engine().config().model.features;
  QuestionSource questions(served.query_address(), {{"predict", predict_frame(features, 1)}}, 1,
                           o.query_rate);
  const FrameSource rows(served.observe_address(), load_rows(features + 1, 0),
                         LoadPlan{kRowsPerSecond, 1});
  std::vector<std::unique_ptr<HostilePeers>> peers;
  for (const Attack& attack : all) {
    peers.push_back(std::make_unique<HostilePeers>(served.query_address(), attack.plan));
    if (!attack.http_too) continue;
    peers.push_back(std::make_unique<HostilePeers>(served.http_address(), attack.plan));
  }
  // The peers run only where a processor is idle: waits until each kind has connected.
  wait_until(
      [&] {
        return std::ranges::all_of(peers,
                                   [](const auto& peer) { return peer->connections_made() > 0; });
      },
      "hostile peers do not come to connect");
  sleep_for(0.5);
  const auto newcomers_to = [](const std::string& address, Speaks what) {
    return Beside<Json>([=](const std::stop_token& stop) {
      return run_newcomers(address, what, kNewcomersPerSecond, stop);
    });
  };
  Beside<Json> newcomers = newcomers_to(served.query_address(), Speaks::kFrames);
  Beside<Json> over_http = newcomers_to(served.http_address(), Speaks::kHttp);
  const IngestSpan ingest(served);
  const std::uint64_t pauses = served.server().counters().get(IoCounter::kTurnPauses);
  const ProcessSpan span;
  const bool first =
      run_promptly([&] { questions.ask(o.seconds > 0 ? o.seconds : 5); }, o.real_time);
  Json process = span.figures();
  rows.check();
  const Json came = newcomers.end();
  const Json came_over_http = over_http.end();
  Json out = {{"name", name}};
  out.update(ingest.figures());
  out["unanswered"] = questions.unanswered();
  out["refused"] = questions.refused();
  out.update(process);
  out["asker_first"] = first;
  out["turn_pauses"] = served.server().counters().get(IoCounter::kTurnPauses) - pauses;
  out["newcomers"] = came;
  out["newcomers_over_http"] = came_over_http;
  out["latency"] = percentiles(questions.latency(0));
  const double p50 = number_or_0(out["latency"]["p50_us"]);
  const double p99 = number_or_0(out["latency"]["p99_us"]);
  if (quiet.p50 == 0) quiet = {p50, p99};
  if (quiet.p50 > 0) out["p50_of_quiet"] = p50 / quiet.p50;
  if (quiet.p99 > 0) out["p99_of_quiet"] = p99 / quiet.p99;
  std::uint64_t sent = 0;
  std::uint64_t made = 0;
  for (const auto& peer : peers) {
    sent += peer->bytes_sent();
    made += peer->connections_made();
  }
  out["hostile_bytes"] = sent;
  out["hostile_connections"] = made;
  return out;
}

}  // namespace

Json run_hostile(const BenchOptions& options) {
  if (options.dimensions.size() > 1) throw UserError("--dimension takes one value for hostile");
  const std::uint32_t dimension = options.dimensions.empty() ? 10 : options.dimensions.front();
  reserve_descriptors(kMostDescriptors);  // for the peers, which are in this process
  EngineConfig config = served_config(options, dimension, 0);
  config.model.name = "linear";
  config.max_readers += kHttpReaders;
  config.max_watchers += kHttpWatchers;
  ServedEngine served(config, {.http = true});
  settle(served, load_rows(dimension, 0), true);
  Json out = {
      {"query_rate", options.query_rate}, {"limits", Json::object()}, {"runs", Json::array()}};
  const std::vector<Attack> all = attacks(dimension - 1);
  Quiet quiet;
  const auto run = [&](const std::string& name, const std::vector<Attack>& beside) {
    out["runs"].push_back(run_beside(served, options, name, beside, quiet));
  };
  run("quiet", {});
  for (const Attack& attack : all) run("beside one that " + attack.name, {attack});
  run("beside all of them", all);
  run("quiet again", {});
  return out;
}

}  // namespace windhover
