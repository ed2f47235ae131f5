// What a checkpoint takes beside a new file of as many bytes, how long it holds up the learner and
// the observe thread, and how soon a server that starts from one answers.
#include "windhover/io/durable/producer_capture.h"
#include "windhover/tools/bench/durable.h"
#include "windhover/tools/bench/harness.h"
#include "windhover/tools/bench/loopback.h"
#include "windhover/tools/bench/micro_stream.h"
#include "windhover/tools/placed.h"

namespace windhover {

namespace {

std::uint32_t dimension_of(const BenchOptions& o) { return list_or(o.dimensions, {100}).front(); }

void checkpoint_on_disk(const BenchOptions& o, Json& runs) {
  constexpr int kTurns = 7;
  const std::uint32_t dimension = dimension_of(o);
  const EngineConfig config = kept_config(o, dimension);
  KeptServer kept(config, KeptServer::Keeps::kLog);
  const LoadRows rows = load_rows(dimension, 0);
  send_until(kept.served(), rows, config.window_size);
  settle(kept.served(), rows, true);
  (void)kept.checkpoint();
  const std::uint64_t bytes = kept.checkpoint_bytes();
  std::vector<double> taken;
  std::vector<double> bare;
  std::vector<double> ratios;
  ProcessTurns process;
  for (int turn = 0; turn < kTurns; ++turn) {
    bare.push_back(new_file_seconds(bytes));
    const ProcessSpan span;
    const double seconds = kept.checkpoint();
    process.add(span.figures());
    taken.push_back(seconds);
    ratios.push_back(taken.back() / bare.back());
  }
  Json run = {{"name", fmt::format("checkpoint D={} N={}", dimension, config.window_size)},
              {"mib", static_cast<double>(bytes) / (1 << 20)},
              {"seconds", median(taken)},
              {"new_file_seconds", median(bare)},
              {"of_new_file", median(ratios)}};
  run.update(process.figures());
  runs.push_back(std::move(run));
}

// Processor time for which the learner stands still while its state is copied. The window is short,
// because its rows are not copied.
void capture(std::uint32_t dimension, Json& runs) {
  constexpr int kTimes = 20;
  MicroStream stream(MicroStream::kept_config(dimension));
  Engine& engine = stream.engine();
  double longest = 0;
  double sum = 0;
  Runs run;
  run.add(fmt::format("learner's copy D={}", dimension), [&] {
    for (int i = 0; i < kTimes; ++i) {
      if (!ok(engine.state().request_capture())) throw RunError("there is no copy");
      const double begin = thread_seconds();
      engine.poll(0);
      const double took = thread_seconds() - begin;
      sum += took;
      longest = std::max(longest, took);
      engine.state().release_capture();
    }
    return Figures{{"mean_ms", 1e3 * sum / kTimes}, {"longest_ms", 1e3 * longest}};
  });
  runs.push_back(run.take()[0]);
}

// The same for the observe thread, with as many known producers as there can be by default.
void capture_producers(Json& runs) {
  constexpr std::size_t kProducers = ServerConfig{}.max_producers;
  Placed<ProducerTable> table(kProducers);
  table->reset();
  Placed<ProducerCapture> copy(ProducerTable::most_shown(kProducers, 0));
  ProducerClaims claims;
  for (std::uint64_t producer = 1; producer <= kProducers; ++producer) {
    table->judged(table->at(producer), producer, claims, 0).entry.next = 1;
    table->release(claims);
  }
  Runs run;
  run.add("observe thread's copy of all producers", [&] {
    const double took = average(0.05, [&] {
      copy->request();
      copy->take(*table, 0, 0);
      copy->release();
    });
    return Figures{{"mean_ms", 1e3 * took}};
  });
  runs.push_back(run.take()[0]);
}

struct FirstAnswers {
  double first = 0;    // any answer
  double all = 0;      // one that includes every row
  double settled = 0;  // one that also has enough draws
};

FirstAnswers answers_of(ServedEngine& served, std::uint64_t head, double begin) {
  FirstAnswers out;
  const int socket = connect_and_greet(served.query_address());
  const std::string question = predict_frame(served.engine().dimension() - 1, 1);
  const double patience = begin + kPatience;
  while (out.settled == 0 && wall_seconds() < patience) {
    v1::Response response;
    if (!write_all(socket, question.data(), question.size()) ||
        !receive_response(socket, response) || !response.has_predict_result()) {
      break;
    }
    const double now = wall_seconds() - begin;
    const v1::Provenance& p = response.predict_result().provenance();
    if (out.first == 0) out.first = now;
    if (p.sequence() >= head && out.all == 0) out.all = now;
    if (out.all > 0 && p.reason() != v1::POSTERIOR_REASON_FEW_DRAWS) out.settled = now;
    sleep_for(0.001);
  }
  ::close(socket);
  if (out.settled == 0) throw RunError("a server that has started again does not answer");
  return out;
}

// Starts from a window of rows in the checkpoint, and in the log after it half as many, or what
// half of a log holds, at which the next checkpoint is due.
void start(const BenchOptions& o, std::uint64_t window_rows, Json& runs) {
  const std::uint32_t dimension = dimension_of(o);
  EngineConfig config = kept_config(o, dimension);
  config.window_size = window_rows;
  const LoadRows rows = load_rows(dimension, 0);
  const std::size_t row_bytes =
      commit_bytes(config.model, 1, rows.rows_per_frame) / rows.rows_per_frame;
  const std::uint64_t after =
      std::min<std::uint64_t>(window_rows / 2, DurableConfig{}.log_options.bytes / 2 / row_bytes);
  KeptServer kept(config, KeptServer::Keeps::kLog);
  send_until(kept.served(), rows, window_rows);
  settle(kept.served(), rows, false);
  (void)kept.checkpoint();
  send_until(kept.served(), rows, kept.served().engine().head() + after);
  const std::uint64_t checkpointed = kept.server().kept().checkpoints().head.load();
  kept.stop();
  const ProcessSpan span;
  const double begin = wall_seconds();
  kept.start();
  const std::uint64_t head = kept.server().kept().log().durable_head.load();
  const FirstAnswers answers = answers_of(kept.served(), head, begin);
  Json process = span.figures();
  process.erase("heap_calls");  // the start makes some, and so does the asking client
  if (kept.served().engine().head() != head) throw RunError("rows are missing after a start");
  Json run = {{"name", fmt::format("start D={} N={}", dimension, window_rows)},
              {"checkpoint_mib", static_cast<double>(kept.checkpoint_bytes()) / (1 << 20)},
              {"rows_in_log", head - checkpointed},
              {"first_answer_seconds", answers.first},
              {"all_rows_seconds", answers.all},
              {"settled_seconds", answers.settled}};
  run.update(process);
  runs.push_back(std::move(run));
}

}  // namespace

void run_durable_checkpoints(const BenchOptions& options, Json& runs) {
  checkpoint_on_disk(options, runs);
  const std::vector<std::uint32_t> shapes = list_or(options.dimensions, {10, 100, 500, 1000});
  for (const std::uint32_t dimension : shapes) capture(dimension, runs);
  capture_producers(runs);
}

void run_durable_starts(const BenchOptions& options, Json& runs) {
  std::vector<std::uint64_t> windows = options.window_rows;
  if (windows.empty()) windows = {100'000, 1'000'000};
  for (const std::uint64_t rows : windows) start(options, rows, runs);
}

}  // namespace windhover
