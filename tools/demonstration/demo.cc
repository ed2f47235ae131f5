// The demonstration: real flights streamed through TCP into a fresh daemon while questions are
// answered, then the same at full speed, then once more into one that is killed, then a report. Run
// by tools/demo.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "windhover/runtime/config.h"
#include "windhover/tools/cli/command_numbers.h"
#include "windhover/tools/client/answers.h"
#include "windhover/tools/client/compare.h"
#include "windhover/tools/client/questions.h"
#include "windhover/tools/client/send.h"
#include "windhover/tools/daemon/child_daemon.h"
#include "windhover/tools/demonstration/background.h"
#include "windhover/tools/demonstration/demo_report.h"
#include "windhover/tools/demonstration/killed.h"
#include "windhover/tools/error.h"
#include "windhover/tools/fit/reference.h"
#include "windhover/tools/program/run_program.h"

namespace windhover {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kPatience = 20s;

struct Options {
  std::string folder;  // with flights.csv.gz and flights.toml
  double seconds = 40;
  std::uint64_t window = 100'000;
  std::uint64_t limit = 0;

  std::string data() const { return folder + "/flights.csv.gz"; }
  std::string schema() const { return folder + "/flights.toml"; }
};

struct Question {
  const char* text;
  std::map<std::string, std::string> fields;
};

const std::vector<Question>& questions() {
  static const std::vector<Question> list = {
      {"800 miles from Chicago O'Hare (ORD) at 21:00",
       {{"distance", "800"}, {"origin", "ORD"}, {"hour", "21"}}},
      {"the same at 07:00", {{"distance", "800"}, {"origin", "ORD"}, {"hour", "7"}}},
      {"2500 miles from San Francisco (SFO) at 18:30",
       {{"distance", "2500"}, {"origin", "SFO"}, {"hour", "18.5"}}},
      {"300 miles from Honolulu (HNL) at noon",
       {{"distance", "300"}, {"origin", "HNL"}, {"hour", "12"}}},
  };
  return list;
}

std::string bin_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().string();
}

// The horizon is a window: in the exact posterior used for comparison every row counts the same.
std::vector<std::string> daemon_arguments(const Options& o) {
  return {"--model.schema",   o.schema(), "--model.name",         "logistic",
          "--engine.horizon", "window",   "--engine.window_size", fmt::format("{}", o.window),
          "--sampler.chains", "4"};
}

struct Answer {
  PredictiveSummary summary;
  Provenance provenance;
};

// Asks one question by its fields.
Answer ask(Client& client, const Schema& schema, const Question& question) {
  QuestionRows row;
  row.add(schema.encode(question.fields), schema);
  PredictRequest request;
  row.put_into(request);
  std::vector<PredictiveSummary> summaries;
  Answer answer;
  check_reply(client, client.predict(request, summaries, answer.provenance), "predicting");
  answer.summary = summaries.at(0);
  return answer;
}

// The progress bar and the newest answers: drawn over themselves on a terminal, otherwise every
// fifth set of answers, one after the other.
class Screen {
 public:
  void show(double part, const std::string& progress, const std::string& answers,
            bool new_answers) {
    const bool terminal = isatty(STDOUT_FILENO) != 0;
    if (!terminal && (!new_answers || shown_++ % 5 != 0)) return;
    if (terminal && lines_ > 0) fmt::print("\x1b[{}A\x1b[J", lines_);
    constexpr int kWidth = 30;
    const std::string bar(static_cast<std::size_t>(part * kWidth), '#');
    const std::string text =
        fmt::format("[{:.<{}}] {:3.0f} % {}\n{}", bar, kWidth, 100 * part, progress, answers);
    fmt::print("{}", text);
    std::fflush(stdout);
    lines_ = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  }

 private:
  int lines_ = 0;
  int shown_ = 0;
};

std::string answers_text(Client& client, const Schema& schema, double second) {
  std::string out = fmt::format(
      "  after {:.0f} s, how likely is it more than 15 minutes late, and how sure are we?\n",
      second);
  Answer answer;
  for (const Question& question : questions()) {
    answer = ask(client, schema, question);
    const PredictiveSummary& s = answer.summary;
    out +=
        fmt::format("    {:<46} {:>5.1f} %  (90 % sure of {:>4.1f} to {:>4.1f} %)\n", question.text,
                    100 * s.epred_mean, 100 * s.interval_lower, 100 * s.interval_upper);
  }
  const Provenance& p = answer.provenance;
  return out + fmt::format("    {} rows seen, R {:.2f}, effective draws {:.0f}, status {}\n\n",
                           p.n_seen, p.draws_per_observation, p.ess_bulk, to_string(p.status));
}

void compare_with_exact(Client& client, const Options& o, const Schema& schema,
                        LiveResult& result) {
  const ServedPosterior served =
      fetch_posterior(client, std::chrono::duration<double>(kPatience).count());
  const Provenance& p = served.provenance;
  const Dataset rows = encoded_rows(o.data(), schema, p.sequence - p.n_eff, p.sequence);
  const std::vector<double> shift(rows.columns(), 0.0), scale(rows.columns(), 1.0);
  const ModelConfig defaults = ModelConfig{.name = "logistic"}.with_prior();
  const ReferencePosterior exact =
      exact_posterior(rows,
                      {.logistic = true,
                       .prior_precision = defaults.prior_precision,
                       .intercept_precision = defaults.intercept_precision},
                      shift, scale);
  result.provenance = p;
  result.kl_summary = gaussian_kl(served.mean, served.covariance, exact.mode, exact.covariance);
  result.kl_about_mode = gaussian_kl(served.mode, served.covariance, exact.mode, exact.covariance);
}

LiveResult run_live(const Options& o, const Schema& schema, std::uint64_t rows) {
  LiveResult result;
  const std::string program = bin_folder() + "/windhoverd";
  ChildDaemon daemon(program, daemon_arguments(o), heap_counter_beside(program));
  result.block_bytes = daemon.block_bytes();
  fmt::print("Phase 1: {} flights through TCP ({}) in about {:.0f} s\n", rows,
             daemon.observe_address(), o.seconds);
  Client client;
  connect_or_throw(client, daemon.query_address());
  LatencyProbe probe(daemon.query_address(),
                     [&schema](Client& asker) { (void)ask(asker, schema, questions().front()); });
  const auto start = Clock::now();
  {
    SendOptions send;
    send.path = o.data();
    send.address = daemon.observe_address();
    send.schema = o.schema();
    send.rate = static_cast<double>(rows) / o.seconds;
    send.batch = 64;
    send.producer = 1;
    send.limit = rows;
    send.score_every = 10;
    send.score_address = daemon.query_address();
    send.score_memory = static_cast<double>(o.window);
    SendThread sender(std::move(send));
    Screen screen;
    std::string answers;
    auto next = start + 1s;
    while (!sender.done()) {
      std::this_thread::sleep_for(200ms);
      const bool ask_again = Clock::now() >= next;
      if (ask_again) {
        next += 1s;
        answers = answers_text(client, schema,
                               std::chrono::duration<double>(Clock::now() - start).count());
      }
      const auto [part, text] = sender.progress();
      screen.show(part, text, answers, ask_again);
    }
    result.sent = sender.result();
  }
  probe.stop();
  result.round_trips = probe.latency().count();
  result.round_trip_ns = {probe.latency().quantile(0.5), probe.latency().quantile(0.99),
                          probe.latency().quantile(0.999), probe.latency().max()};
  compare_with_exact(client, o, schema, result);
  check_reply(client, client.status(result.status), "asking for the status");
  client.close();
  result.stopped = daemon.stop();
  return result;
}

FastResult run_fast(const Options& o, const Schema& schema, std::uint64_t rows) {
  FastResult result;
  const std::string program = bin_folder() + "/windhoverd";
  ChildDaemon daemon(program, daemon_arguments(o), heap_counter_beside(program));
  fmt::print("\nPhase 2: the same flights at full speed into a fresh daemon\n");
  std::fflush(stdout);
  SendOptions send;
  send.path = o.data();
  send.address = daemon.observe_address();
  send.schema = o.schema();
  send.producer = 1;
  send.limit = rows;
  result.sent = send_file(send);
  Client client;
  connect_or_throw(client, daemon.query_address());
  const auto start = Clock::now();
  while (result.settled.status == PosteriorStatus::kWarmingUp && Clock::now() - start < kPatience) {
    std::this_thread::sleep_for(1ms);
    result.settled = ask(client, schema, questions().front()).provenance;
    result.seconds_to_draws = std::chrono::duration<double>(Clock::now() - start).count();
    if (result.settled.sequence < rows) result.seconds_to_catch_up = result.seconds_to_draws;
  }
  client.close();
  result.stopped = daemon.stop();
  return result;
}

KilledResult kill_one(const Options& o, const Schema& schema, std::uint64_t rows) {
  fmt::print(
      "\nPhase 3: the same into a daemon that keeps a log, killed (SIGKILL) in the middle\n");
  std::fflush(stdout);
  SendOptions send;
  send.path = o.data();
  send.schema = o.schema();
  send.producer = 1;
  send.limit = rows;
  return run_killed(
      bin_folder() + "/windhoverd", daemon_arguments(o), std::move(send), rows,
      [&schema](Client& client) { return ask(client, schema, questions().front()).provenance; });
}

int run(const Options& o) {
  const Schema schema = Schema::from_file(o.schema());
  std::uint64_t rows = 0;
  Table table(o.data(), schema.table_options());
  while (table.next()) ++rows;
  if (o.limit > 0) rows = std::min(rows, o.limit);
  const LiveResult live = run_live(o, schema, rows);
  const FastResult fast = run_fast(o, schema, rows);
  const KilledResult killed = kill_one(o, schema, rows);
  return print_report(live, fast, killed) ? 0 : 1;
}

}  // namespace
}  // namespace windhover

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  return windhover::run_program("windhover_demo", [&] {
    CLI::App app("Streams real flights into a daemon and asks it questions", "windhover_demo");
    windhover::Options options;
    app.add_option("FOLDER", options.folder, "With flights.csv.gz and flights.toml")->required();
    app.add_option("--seconds", options.seconds, "Of the live phase")->check(CLI::PositiveNumber);
    app.add_option("--window", options.window, "Rows the posterior stands on")
        ->transform(windhover::whole_number());
    app.add_option("--limit", options.limit, "Flights at most; 0: all")
        ->transform(windhover::whole_number());
    int outcome = 0;
    app.callback([&] { outcome = windhover::run(options); });
    return std::max(windhover::run_parsed(app, argc, argv), outcome);
  });
}
