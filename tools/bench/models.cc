// Several models behind one server: how long the start takes, how much memory they take, and how
// each learns and answers while rows come for all of them.
#include "windhover/io/client.h"
#include "windhover/platform/prefault.h"
#include "windhover/runtime/learner_pool.h"
#include "windhover/tools/bench/harness.h"
#include "windhover/tools/daemon/chosen_sizes.h"

namespace windhover {
namespace {

struct Case {
  std::uint32_t models;
  std::uint32_t dimension;
  std::uint64_t window;
  double rate;  // rows a second, each model
};

// All models in one block of memory, as a host would have them.
class ServedModels {
 public:
  ServedModels(const BenchOptions& options, const Case& c) : dimension_(c.dimension) {
    const double begin = wall_seconds();
    EngineConfig engine = served_config(options, c.dimension);
    engine.model.prior_precision = 0;  // the default
    engine.model.intercept_precision = 0;
    engine.window_size = c.window;
    engine.max_readers = kServerReaders;
    engine.max_watchers = kServerWatchers;
    engine.window_slack = engine.max_frame_rows = 0;  // chosen as the daemon does
    choose_slack(engine);
    ServerConfig server;
    server.max_sessions = c.models + 8;
    server.max_producers = producers_of_each(c.models);
    std::vector<PlannedModel> planned;
    for (std::uint32_t i = 0; i < c.models; ++i) names_.push_back(fmt::format("model-{}", i));
    for (const std::string& name : names_) planned.push_back({name, engine});
    engine_bytes_ = value_or_throw(Engine::footprint(engine));
    const std::size_t server_bytes = value_or_throw(Server::footprint(server, planned));
    const std::size_t stride = Arena::aligned(engine_bytes_);
    block_.emplace(c.models * stride + server_bytes);
    if (!block_->valid()) throw RunError("there is no memory for so many models");
    const double mapped = wall_seconds();
    prefault(block_->bytes(), std::thread::hardware_concurrency());  // as the daemon does
    touch_seconds_ = wall_seconds() - mapped;
    std::vector<HostedModel> hosted;
    for (std::uint32_t i = 0; i < c.models; ++i) {
      const auto part = block_->bytes().subspan(i * stride, engine_bytes_);
      engines_.push_back(value_or_throw(Engine::create(engine, part, clock_)));
      hosted.push_back({names_[i], engines_.back()});
    }
    server_ =
        value_or_throw(Server::create(server, hosted, block_->bytes().last(server_bytes), clock_));
    value_or_throw(server_->open());
    if (!ok(server_->start()) ||
        !ok(learners_.start(engines_, 1, {.name = "wh-learner"}, IdleStrategy::kPark))) {
      throw RunError("a thread could not be started");
    }
    start_seconds_ = wall_seconds() - begin;
  }
  ~ServedModels() {
    server_->request_stop();
    server_->join();
    learners_.stop();
  }
  ServedModels(const ServedModels&) = delete;
  ServedModels& operator=(const ServedModels&) = delete;

  std::size_t size() const { return engines_.size(); }
  Engine& engine(std::size_t i) { return *engines_[i]; }
  std::uint32_t features() const { return dimension_ - 1; }
  double start_seconds() const { return start_seconds_; }
  // The part of start_seconds() for touching the memory of the block.
  double touch_seconds() const { return touch_seconds_; }
  std::size_t engine_bytes() const { return engine_bytes_; }
  double bytes_a_model() const {
    return static_cast<double>(block_->bytes().size()) / static_cast<double>(size());
  }
  std::unique_ptr<Client> connect(std::size_t i, bool observe) const {
    auto client = std::make_unique<Client>();
    ClientOptions options;
    options.model = names_[i];
    options.producer = observe ? 1 : 0;
    const std::string address =
        fmt::format("127.0.0.1:{}", observe ? server_->observe().port : server_->query().port);
    if (!ok(client->connect(address, options))) throw RunError(client->error_text());
    return client;
  }

 private:
  std::uint32_t dimension_;
  RealClock clock_;
  std::vector<std::string> names_;
  std::optional<MappedBlock> block_;
  std::size_t engine_bytes_ = 0;
  std::vector<Engine*> engines_;
  std::unique_ptr<Server> server_;
  LearnerPool learners_;
  double start_seconds_ = 0;
  double touch_seconds_ = 0;
};

using Clients = std::vector<std::unique_ptr<Client>>;

Clients connect_all(const ServedModels& served, bool observe) {
  Clients clients;
  for (std::size_t i = 0; i < served.size(); ++i) clients.push_back(served.connect(i, observe));
  return clients;
}

// Sends rows to every model at a rate, in frames a few milliseconds apart. Returns how many were
// sent, all of them acknowledged. RunError when a connection broke.
std::uint64_t send_rows(const Clients& clients, std::uint32_t features, double rate,
                        const std::stop_token& stop) {
  constexpr std::size_t kRows = 4096;
  constexpr double kPeriod = 0.02;
  std::vector<double> all_x;
  std::vector<double> all_y;
  for (std::size_t i = 0; i < kRows; ++i) {
    double sum = 0.5;
    for (std::uint32_t j = 0; j < features; ++j) {
      const double x = std::sin(static_cast<double>(i * features + j) * 12.9898) * 1.5;
      all_x.push_back(x);
      sum += x * (j % 3 == 0 ? 1.0 : -0.25);
    }
    all_y.push_back(sum + std::cos(static_cast<double>(i) * 78.233));
  }
  std::uint64_t sent = 0;  // rows, to all models
  const auto send = [&](Client& client, std::size_t rows, std::size_t salt) {
    const std::size_t at = (sent / clients.size() + salt * 37) % (kRows / 2);
    const auto x = std::span(all_x).subspan(at * features, rows * features);
    const auto y = std::span(all_y).subspan(at, rows);
    if (!ok(client.send_observe({x, y, {}, {}})) || !ok(client.flush()) ||
        !ok(client.poll_acknowledgements())) {
      throw RunError(client.error_text());
    }
    sent += rows;
  };
  const double begin = wall_seconds();
  std::uint64_t due_before = 0;
  for (std::uint64_t tick = 1; !stop.stop_requested(); ++tick) {
    const auto due = static_cast<std::uint64_t>(rate * kPeriod * static_cast<double>(tick));
    const std::size_t rows = std::min<std::size_t>(due - due_before, kRows / 2);
    due_before = due;
    for (std::size_t i = 0; i < clients.size(); ++i) send(*clients[i], rows, i);
    const double next = begin + kPeriod * static_cast<double>(tick);
    if (const double left = next - wall_seconds(); left > 0) sleep_for(left);
  }
  for (const auto& client : clients) {
    if (!ok(client->wait_acknowledged())) throw RunError(client->error_text());
  }
  return sent;
}

std::vector<std::uint64_t> counts(ServedModels& served, RuntimeCounter counter) {
  std::vector<std::uint64_t> values;
  for (std::size_t i = 0; i < served.size(); ++i) {
    values.push_back(served.engine(i).counters().get(counter));
  }
  return values;
}

// Asks one model after the other, and records the age and the latency of each answer.
Figures measure(ServedModels& served, const Case& c, double seconds) {
  const Clients senders = connect_all(served, true);
  Beside<std::uint64_t> sending([&](const std::stop_token& stop) {
    return send_rows(senders, served.features(), c.rate, stop);
  });
  const Clients askers = connect_all(served, false);
  sleep_for(std::min(3.0, seconds));  // until the posteriors have settled
  const auto rows = counts(served, RuntimeCounter::kRowsAccepted);
  const auto drawn = counts(served, RuntimeCounter::kExamples);
  std::vector<double> ages;
  std::vector<double> latencies;
  std::vector<PredictiveSummary> answer;
  const std::vector<double> x(served.features(), 0.25);
  PredictRequest request;
  request.rows = 1;
  request.features = x;
  const double end = wall_seconds() + seconds;
  for (std::size_t i = 0; wall_seconds() < end; i = (i + 1) % askers.size()) {
    Provenance provenance;
    const double begin = wall_seconds();
    if (!ok(askers[i]->predict(request, answer, provenance))) {
      throw RunError(askers[i]->error_text());
    }
    latencies.push_back(wall_seconds() - begin);
    ages.push_back(1e-9 * static_cast<double>(provenance.age_ns));
    sleep_for(0.001);
  }
  const auto rows_after = counts(served, RuntimeCounter::kRowsAccepted);
  const auto drawn_after = counts(served, RuntimeCounter::kExamples);
  std::vector<double> replay;
  double taken = 0;
  for (std::size_t i = 0; i < served.size(); ++i) {
    const auto of_rows = static_cast<double>(rows_after[i] - rows[i]);
    const auto of_draws = static_cast<double>(drawn_after[i] - drawn[i]);
    taken += of_rows;
    const double chains = served.engine(i).config().sampler.chains;
    replay.push_back(of_rows > 0 ? of_draws / of_rows / chains : 0);
  }
  const double sent = static_cast<double>(sending.end());
  double heads = 0;
  for (std::size_t i = 0; i < served.size(); ++i) {
    heads += static_cast<double>(served.engine(i).head());
  }
  if (heads != sent) throw RunError("rows are unaccounted for");
  return {{"rows_per_second", taken / seconds},
          {"replay_least", *std::ranges::min_element(replay)},
          {"replay_p50", quantile(replay, 0.5)},
          {"age_p50", quantile(ages, 0.5)},
          {"age_p99", quantile(ages, 0.99)},
          {"age_max", quantile(ages, 1)},
          {"latency_p50", quantile(latencies, 0.5)},
          {"latency_p99", quantile(latencies, 0.99)}};
}

}  // namespace

// Without options: 64 models that are sent many rows, and 1,000 small ones.
Json run_models(const BenchOptions& options) {
  const double seconds = options.seconds > 0 ? options.seconds : 10;
  std::vector<Case> cases;
  for (const std::uint32_t models : list_or(options.models, {64, 1000})) {
    const bool small = models > 256;
    for (const std::uint32_t dimension : list_or(options.dimensions, {small ? 10U : 20U})) {
      cases.push_back({models, dimension, small ? 2'000U : 10'000U,
                       options.rate > 0 ? options.rate : (small ? 50.0 : 5'000.0)});
    }
  }
  Runs runs;
  for (const Case& c : cases) {
    ServedModels served(options, c);
    runs.add(fmt::format("{} models, D = {}, {} rows a second each", c.models, c.dimension, c.rate),
             [&] {
               Figures figures = measure(served, c, seconds);
               figures.add("start_seconds", served.start_seconds());
               figures.add("touch_seconds", served.touch_seconds());
               figures.add("engine_bytes", static_cast<double>(served.engine_bytes()));
               figures.add("bytes_a_model", served.bytes_a_model());
               return figures;
             });
  }
  return {{"limits", Json::object()}, {"runs", runs.take()}};
}

}  // namespace windhover
