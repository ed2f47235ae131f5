// The latency of one model's answers while others are added, replaced and removed, beside that
// while nothing comes or goes: in turns, in one run of a daemon with a data folder.
#include <fstream>

#include "windhover/io/client.h"
#include "windhover/tools/bench/harness.h"
#include "windhover/tools/daemon/child_daemon.h"
#include "windhover/tools/temporary_folder.h"

namespace windhover {
namespace {

constexpr double kComingTurnSeconds = 2;        // of one turn, at most
constexpr double kComingRowsPerSecond = 5'000;  // rows for the model that is asked
constexpr std::uint32_t kRowsOfOneThatComes = 2'000;
constexpr const char* kComes = "comes";

std::string daemon_program() {
  std::error_code none;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", none);
  return (self.parent_path() / "windhoverd").string();
}

// Writes the configuration: a model that stays, and room for one that comes.
std::vector<std::string> configure(const TemporaryFolder& folder, std::uint32_t dimension) {
  std::ofstream(folder.in("stays.toml")) << fmt::format("[model]\nfeatures = {}\n", dimension - 1);
  std::ofstream(folder.in("all.toml")) << fmt::format(
      "[server]\nobserve.tcp_port = 0\nquery.tcp_port = 0\nadded.memory = 400000000\n"
      "added.max_models = 2\nadded.max_parameters = {}\n"
      "[data]\nfolder = \"{}\"\n[models]\nstays = \"{}\"\n",
      dimension, folder.in("data"), folder.in("stays.toml"));
  return {folder.in("all.toml")};
}

void send_rows(const ChildDaemon& daemon, std::uint32_t features) {
  Client client;
  ClientOptions options;
  options.model = kComes;
  std::vector<double> x(kRowsOfOneThatComes * features);
  std::vector<double> y(kRowsOfOneThatComes);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(12.9898 * static_cast<double>(i));
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i * features];
  if (!ok(client.connect(daemon.observe_address(), options)) ||
      !ok(client.observe({x, y, {}, {}}))) {
    throw RunError(client.error_text());
  }
}

// Adds a model, sends it rows, replaces it by another one and removes that, again and again.
// Returns the number of orders carried out. RunError where one was refused.
std::uint64_t come_and_go(const ChildDaemon& daemon, std::uint32_t features,
                          const std::stop_token& stop) {
  Client client;
  if (!ok(client.connect(daemon.query_address()))) throw RunError(client.error_text());
  std::uint64_t orders = 0;
  const auto carry_out = [&](v1::HostAction action, const char* model) {
    v1::HostModel order;
    order.set_action(action);
    order.set_name(kComes);
    order.set_delete_data(true);
    if (model != nullptr) {
      order.set_configuration(
          fmt::format("[model]\nname = \"{}\"\nfeatures = {}\n", model, features));
    }
    v1::HostModelResult result;
    if (!ok(client.host_model(order, result)) || result.reason() != v1::REASON_OK) {
      throw RunError(fmt::format("{} {}", result.error(), client.error_text()));
    }
    ++orders;
  };
  while (!stop.stop_requested()) {
    carry_out(v1::HOST_ACTION_ADD, "linear");
    send_rows(daemon, features);
    carry_out(v1::HOST_ACTION_REPLACE, "student-t");
    carry_out(v1::HOST_ACTION_REMOVE, nullptr);
  }
  return orders;
}

// The figures of all turns of one kind.
struct Turns {
  void add(const Histogram& one) {
    one.for_each_bucket([this](std::int64_t ns, std::uint64_t count) {
      for (std::uint64_t i = 0; i < count; ++i) latency.record(ns);
    });
  }
  Figures figures() const {
    return {{"questions", static_cast<double>(latency.count())},
            {"p50_us", 1e-3 * static_cast<double>(latency.quantile(0.5))},
            {"p99_us", 1e-3 * static_cast<double>(latency.quantile(0.99))},
            {"max_us", 1e-3 * static_cast<double>(latency.max())}};
  }
  Histogram latency;
  std::uint64_t unanswered = 0;
  std::uint64_t orders = 0;
  bool asker_first = false;
};

void ask(const ChildDaemon& daemon, const BenchOptions& options, std::uint32_t dimension,
         double seconds, Turns& turns) {
  QuestionSource questions(daemon.query_address(), {{"predict", predict_frame(dimension - 1, 1)}},
                           1, options.query_rate);
  turns.asker_first = run_promptly([&] { questions.ask(seconds); }, options.real_time);
  turns.add(questions.latency(0));
  turns.unanswered += questions.unanswered() + questions.refused();
}

}  // namespace

Json run_coming(const BenchOptions& options) {
  if (options.dimensions.size() > 1) throw UserError("--dimension takes one value for coming");
  const std::uint32_t dimension = options.dimensions.empty() ? 20 : options.dimensions.front();
  const double seconds = options.seconds > 0 ? options.seconds : 20;
  const TemporaryFolder folder;
  ChildDaemon daemon(daemon_program(), configure(folder, dimension));
  const FrameSource rows(daemon.observe_address(), load_rows(dimension, 0),
                         LoadPlan{kComingRowsPerSecond, 1});
  sleep_for(std::min(5.0, seconds));  // burn-in
  Turns quiet;
  Turns coming;
  Runs runs;
  const double turn = std::min(kComingTurnSeconds, seconds);
  for (double measured = 0; measured < seconds; measured += turn) {
    ask(daemon, options, dimension, turn, quiet);
    Beside<std::uint64_t> others(
        [&](const std::stop_token& stop) { return come_and_go(daemon, dimension - 1, stop); });
    ask(daemon, options, dimension, turn, coming);
    coming.orders += others.end();
  }
  rows.check();
  const auto of = [](const Turns& turns) {
    Figures figures = turns.figures();
    figures.add("unanswered", static_cast<double>(turns.unanswered));
    figures.add("orders", static_cast<double>(turns.orders));
    figures.add("asker_first", turns.asker_first ? 1 : 0);
    return figures;
  };
  runs.add("nothing comes or goes", [&] { return of(quiet); });
  runs.add("models come and go", [&] {
    Figures figures = of(coming);
    const auto ratio = [&](double q) {
      return static_cast<double>(coming.latency.quantile(q)) /
             static_cast<double>(quiet.latency.quantile(q));
    };
    figures.add("p50_of_quiet", ratio(0.5));
    figures.add("p99_of_quiet", ratio(0.99));
    return figures;
  });
  return {{"query_rate", options.query_rate}, {"limits", Json::object()}, {"runs", runs.take()}};
}

}  // namespace windhover
