// Latency of questions while rows stream in: with nothing kept, with a log, and with a log and
// checkpoints.
#include "windhover/tools/bench/durable.h"
#include "windhover/tools/bench/harness.h"

namespace windhover {

namespace {

constexpr int kQuestionTurns = 5;

// Requests checkpoints, one at a time, with at least a second between requests.
void ask_for_checkpoints(Server& server, const std::stop_token& stop) {
  for (double next = wall_seconds(); !stop.stop_requested(); sleep_for(0.01)) {
    const CheckpointProgress& progress = server.kept().checkpoints();
    if (wall_seconds() < next || progress.answered.load() != progress.requested.load()) continue;
    (void)server.kept().request_checkpoint();
    next = wall_seconds() + 1;
  }
}

// Rows a second that are taken as fast as they come, checkpoints that the log needs included.
double lasting_rate(const BenchOptions& o, ServedEngine& served, const LoadRows& rows) {
  const FrameSource source(served.observe_address(), rows, {.connections = kLoadConnections});
  sleep_for(0.3);
  const IngestSpan span(served);
  sleep_for(o.seconds > 0 ? o.seconds : 3.0);
  source.check();
  return span.rows_per_second();
}

struct DurableCondition {
  const char* name = nullptr;
  KeptServer* kept = nullptr;
  bool checkpoints = false;
  std::vector<double> p50;
  std::vector<double> p99;
  std::vector<double> p999;
  std::vector<double> from_send_p99;
  std::uint64_t taken = 0;
  ProcessTurns process;
};

void ask_under(const BenchOptions& o, const LoadRows& rows, double rate,
               DurableCondition& condition) {
  ServedEngine& served = condition.kept->served();
  const FrameSource source(served.observe_address(), rows, {rate, kLoadConnections});
  sleep_for(0.3);
  QuestionSource questions(served.query_address(), {{"predict", predict_frame(rows.features, 1)}},
                           1, o.query_rate);
  const std::uint64_t taken = served.server().kept().checkpoints().taken.load();
  {
    std::jthread checkpoints;
    if (condition.checkpoints) {
      checkpoints = std::jthread(
          [&](const std::stop_token& stop) { ask_for_checkpoints(served.server(), stop); });
    }
    run_promptly([&] {
      const ProcessSpan span;
      questions.ask(o.seconds > 0 ? o.seconds : 3.0);
      condition.process.add(span.figures());
    });
  }
  source.check();
  if (questions.unanswered() > 0) throw RunError("a question was not answered");
  condition.taken += served.server().kept().checkpoints().taken.load() - taken;
  const auto at = [&](double q) {
    return 1e-3 * static_cast<double>(questions.latency(0).quantile(q));
  };
  condition.from_send_p99.push_back(1e-3 *
                                    static_cast<double>(questions.from_send().quantile(0.99)));
  condition.p50.push_back(at(0.5));
  condition.p99.push_back(at(0.99));
  condition.p999.push_back(at(0.999));
}

}  // namespace

void run_durable_questions(const BenchOptions& o, Json& runs) {
  const std::uint32_t dimension = list_or(o.dimensions, {100}).front();
  const LoadRows rows = load_rows(dimension, 0);
  const EngineConfig config = kept_config(o, dimension);
  KeptServer without(config, KeptServer::Keeps::kNothing);
  KeptServer with(config, KeptServer::Keeps::kLog);
  settle(without.served(), rows, false);
  settle(with.served(), rows, false);
  const double rate = o.rate > 0 ? o.rate : 0.5 * lasting_rate(o, with.served(), rows);
  std::array<DurableCondition, 3> conditions;
  conditions[0].name = "nothing kept";
  conditions[0].kept = &without;
  conditions[1].name = "log";
  conditions[1].kept = &with;
  conditions[2].name = "log and checkpoints";
  conditions[2].kept = &with;
  conditions[2].checkpoints = true;
  for (int turn = 0; turn < kQuestionTurns; ++turn) {
    for (DurableCondition& condition : conditions) ask_under(o, rows, rate, condition);
  }
  for (const DurableCondition& c : conditions) {
    Json run = {{"name", fmt::format("questions D={} {}", dimension, c.name)},
                {"rows_per_second", rate},
                {"checkpoints", c.taken},
                {"p50_us", median(c.p50)},
                {"p99_us", median(c.p99)},
                {"p999_us", median(c.p999)},
                {"from_send_p99_us", median(c.from_send_p99)},
                {"p99_of_nothing_kept", median(c.p99) / median(conditions[0].p99)},
                {"from_send_p99_of_nothing_kept",
                 median(c.from_send_p99) / median(conditions[0].from_send_p99)}};
    run.update(c.process.figures());
    runs.push_back(std::move(run));
  }
}

}  // namespace windhover
