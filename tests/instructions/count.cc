// What tests/instructions/check counts the instructions of, under callgrind.
//
//   instruction_count CASE     runs it; prints how many steps or messages were counted
//   instruction_count          lists the cases
//
// Only what runs inside counted() is collected (--toggle-collect). Everything is seeded and the
// clock is turned by hand, so two runs of one build execute the same instructions.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "windhover/io/codec.h"
#include "windhover/io/framing.h"
#include "windhover/platform/clock.h"
#include "windhover/runtime/engine.h"
#include "windhover/samplers/row_blocks/row_block_langevin.h"
#include "windhover/tools/bench/frame_source.h"
#include "windhover/tools/bench/loopback.h"
#include "windhover/tools/bench/micro_stream.h"
#include "windhover/tools/bench/micro_talk.h"
#include "windhover/tools/bench/question_source.h"
#include "windhover/tools/bench/sampler_rig.h"
#include "windhover/tools/bench/sparse_rows.h"
#include "windhover/tools/owned_engine.h"
#include "windhover/tools/placed.h"

// A C name, which callgrind can be told.
extern "C" [[gnu::noipa]] void counted(const std::function<void()>& work, int times) {
  for (int i = 0; i < times; ++i) work();
}

namespace windhover {
namespace {

// One move of one chain: indices, gradient, noise, preconditioner. Sparse where nonzeros are given.
template <std::uint32_t kDimension, std::uint32_t kNonzeros = 0>
int move(const char* sampler) {
  SamplerRig rig(
      {.sampler = sampler, .dimension = kDimension, .nonzeros = kNonzeros, .rows = 1000});
  rig.move();
  counted([&] { rig.move(); }, 100);
  return 100;
}

// Row blocks over rows of 32 ones among 4,096 columns.
class RowBlocks {
 public:
  static constexpr std::uint32_t kChains = 8;
  static constexpr std::uint32_t kRows = 2'000;

  explicit RowBlocks(bool weights)
      : model_(model(weights)),
        layout_(model_),
        source_(model_.features, model_.max_nonzeros, kRows, ColumnLaw::kEven, false),
        rows_(kRows * layout_.stride()),
        sampler_(model_, kChains, std::uint64_t{kRows}, std::uint64_t{1}) {
    for (std::uint32_t i = 0; i < kRows; ++i) {
      double* row = rows_.data() + i * layout_.stride();
      row[0] = source_.target(i);
      row[RowLayout::kCountIndex] = model_.max_nonzeros;
      std::fill_n(row + RowLayout::kValuesIndex, model_.max_nonzeros, 1.0);
      std::copy_n(source_.indices(i), model_.max_nonzeros,
                  reinterpret_cast<std::uint32_t*>(row + layout_.indices_index()));
      if (weights) row[layout_.weight_index()] = 1 + i % 4;
    }
    sampler_->reset();
    for (std::uint32_t i = 0; i < kRows; ++i) come(i);
    for (int i = 0; i < 100; ++i) move();
  }

  // Moves all chains once, on 64 rows.
  void move() {
    std::array<std::uint32_t, 64> slots;
    fill_indices(1, {round_, 0, Purpose::kMinibatch}, kRows, slots);
    sampler_->move(round_++, {rows_.data(), slots.data(), slots.size()});
  }
  void come(std::uint32_t i) { sampler_->enter(row(i), i); }
  void go(std::uint32_t i) { sampler_->leave(row(i), i); }

 private:
  static ModelConfig model(bool weights) {
    ModelConfig config;
    config.name = "logistic";
    config.features = 4'096;
    config.max_nonzeros = 32;
    config.weight = weights;
    config.prior_precision = config.intercept_precision = 1;
    return config;
  }
  const double* row(std::uint32_t i) const { return rows_.data() + i * layout_.stride(); }

  ModelConfig model_;
  RowLayout layout_;
  SparseRows source_;
  std::vector<double> rows_;
  Placed<RowBlockLangevin> sampler_;
  std::uint64_t round_ = 0;
};

// A move of eight chains on one row.
int row_block_move(bool weights) {
  RowBlocks blocks(weights);
  counted([&] { blocks.move(); }, 50);
  return 50 * 64;
}

// A row that goes and comes again.
int row_block_row(bool weights) {
  RowBlocks blocks(weights);
  std::uint32_t next = 0;
  counted(
      [&] {
        blocks.go(next);
        blocks.come(next++);
      },
      500);
  return 500;
}

// A prediction from 64 draws of 32 columns. There are few rows: chains at rest make many passes
// over them.
int row_block_prediction() {
  constexpr std::uint64_t kRows = 100;
  const SparseRows rows(4'096, 32, kRows, ColumnLaw::kEven, false);
  EngineConfig config;
  config.structure = Structure::kDiagonal;
  config.model.name = "logistic";
  config.model.features = 4'096;
  config.model.max_nonzeros = 32;
  config.window_size = rows.size();
  ManualClock clock;
  const OwnedEngine engine(config, &clock);
  (void)engine->observe(rows.batch(0, kRows), {});
  while (engine->poll(64) > 0) continue;  // all draws are of after the rows
  Reader reader = engine->reader().value();
  const std::uint32_t end = rows.nonzeros();
  PredictRequest request;
  request.rows = 1;
  request.features = {rows.ones(), end};
  request.row_ends = {&end, 1};
  PredictiveSummary summary;
  Provenance provenance;
  std::uint64_t next = 0;
  Status status = Status::kOk;
  counted(
      [&] {
        request.indices = {rows.indices(next++), end};
        status = reader.predict(request, {&summary, 1}, provenance);
      },
      100);
  return ok(status) && provenance.n_seen == kRows ? 100 : 0;
}

// One round of the engine: sixteen moves, the sweep, the tail, refreshes, retained draws. A round
// takes 10 us by the engine's clock, so that it publishes, once a millisecond, in every hundredth.
int round(const char* model) {
  ManualClock clock;
  LearningEngine learning({.model = model, .clock = &clock});
  counted(
      [&] {
        clock.advance_ns(10'000);
        learning.engine().poll(1);
      },
      200);
  return 200;
}

// The same while rows stream in, 16 a round: they join the estimates, others leave the window, and
// sweeps do not become rare. Without a window they are all that moves the chains.
int streamed_round(Horizon horizon) {
  constexpr std::uint32_t kFresh = 16;
  ManualClock clock;
  EngineConfig config = MicroStream::config("linear", 12);
  config.horizon = horizon;
  if (!keeps_window(horizon)) {
    config.sampler.minibatch_size = kFresh;
    config.sampler.chains = 0;  // one for every retained draw
  }
  MicroStream stream(config, &clock);
  const std::uint64_t before = stream.rows().accepted();
  counted(
      [&] {
        clock.advance_ns(10'000);
        stream.round(kFresh);
      },
      200);
  return stream.rows().accepted() - before == std::uint64_t{200} * kFresh ? 200 : 0;
}

// A request of so many rows; with draws it asks for a Thompson draw, which reads all 64.
struct Prediction {
  Prediction(std::size_t rows, bool with_draws)
      : learning({.clock = &clock}),
        reader(learning.engine().reader().value()),
        x(rows * learning.engine().config().model.features, 0.1),
        summaries(rows) {
    request.rows = rows;
    request.features = x;
    if (with_draws) request.thompson_id = 1;
  }
  Status ask() { return reader.predict(request, summaries, provenance); }

  ManualClock clock;
  LearningEngine learning;
  Reader reader;
  std::vector<double> x;
  std::vector<PredictiveSummary> summaries;
  Provenance provenance;
  PredictRequest request;
};

int predict(std::size_t rows, bool with_draws) {
  Prediction prediction(rows, with_draws);
  Status status = Status::kOk;
  counted([&] { status = prediction.ask(); }, 100);
  return ok(status) ? 100 : 0;
}

// One question through a conversation: found, decoded, answered, encoded.
int question(const std::string& frame) {
  ManualClock clock;
  LearningEngine learning({.clock = &clock});
  Talk talk(learning.engine(), EndpointKind::kQuery, clock);
  std::size_t bytes = 0;
  counted([&] { bytes = talk.ask(frame); }, 100);
  return bytes > 0 && talk.count(IoCounter::kQueriesRefused) == 0 ? 100 : 0;
}

// The encoding alone of a posterior's answer.
int reply(std::size_t rows) {
  Prediction prediction(rows, true);
  if (!ok(prediction.ask())) return 0;
  std::vector<std::byte> out(predict_reply_bound(rows, 0, 0, 0));
  std::size_t bytes = 0;
  const PredictReply answer{&prediction.provenance, prediction.summaries};
  counted([&] { bytes = encode(1, answer, out); }, 100);
  return bytes > 0 ? 100 : 0;
}

EngineConfig config_of(const LoadRows& rows) {
  EngineConfig config;
  config.model.features = rows.features;
  config.model.max_nonzeros = rows.nonzeros;
  config.model.prior_precision = 1;
  return config;
}

// One Observe found in the stream, read, and taken into the window.
int message(const LoadRows& rows) {
  const FrameBytes frames(rows);
  const EngineConfig config = config_of(rows);
  ManualClock clock;
  const OwnedEngine engine(config, &clock);
  auto rest = std::as_bytes(std::span(frames.bytes));
  counted(
      [&] {
        const FrameScan scan = scan_frame(rest, UINT32_MAX);
        RequestView request;
        if (ok(decode_request(scan.frame, request))) {
          (void)engine->observe(request.observe.batch, {});
        }
        rest = rest.subspan(scan.consumed);
      },
      20);
  return engine->head() == std::uint64_t{20} * rows.rows_per_frame ? 20 : 0;
}

// One Observe of a producer's through a conversation, its acknowledgement included.
int conversation(const LoadRows& rows) {
  constexpr std::uint64_t kProducer = 7;
  const EngineConfig config = config_of(rows);
  ManualClock clock;
  const OwnedEngine engine(config, &clock);
  Talk talk(*engine, EndpointKind::kObserve, clock);
  std::vector<std::string> frames(21);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    v1::Request request;
    request.set_id(i + 1);
    v1::Observe& observe = *request.mutable_observe();
    observe.set_producer(kProducer);
    observe.set_first_sequence(i * rows.rows_per_frame);
    observe.set_rows(rows.rows_per_frame);
    for (std::uint32_t k = 0; k < rows.rows_per_frame; ++k) {
      observe.add_targets_f64(0.5);
      for (std::uint32_t j = 0; j < rows.features; ++j) observe.add_features_f64(0.1 * j);
    }
    append_frame(request, frames[i]);
  }
  std::size_t i = 0;
  bool answered = talk.ask(frames[i++]) > 0;  // the table takes the producer in
  counted([&] { answered = talk.ask(frames[i++]) > 0 && answered; }, 20);
  return answered && engine->head() == std::uint64_t{21} * rows.rows_per_frame ? 20 : 0;
}

// A frame of a producer that is not the one of the frame before: the table is asked.
int claim() {
  constexpr std::uint64_t kProducers = 500;
  Placed<ProducerTable> table(std::size_t{1024});
  table->reset();
  std::vector<ProducerClaims> owners(kProducers);
  bool all = true;
  std::uint64_t producer = 0;
  const auto claim_next = [&] {
    producer = producer % kProducers + 1;
    const std::uint64_t name = producer * 0x9e3779b97f4a7c15;
    ProducerClaims& owner = owners[producer - 1];
    ProducerEntry& entry = table->at(name);
    const bool may = table->may_speak(entry, name, owner, 1) == Refusal::kNone;
    if (may) table->judged(entry, name, owner, 1).entry.next = producer;
    all = may && all;
  };
  for (std::uint64_t i = 0; i < kProducers; ++i) claim_next();
  counted(claim_next, kProducers);
  return all ? kProducers : 0;
}

struct Case {
  std::string_view name;
  int (*run)();
};

constexpr std::array kCases = {
    Case{"move-calibrated-12", [] { return move<12>("calibrated"); }},
    Case{"move-calibrated-100", [] { return move<100>("calibrated"); }},
    Case{"move-sgfs-f-100", [] { return move<100>("sgfs-f"); }},
    Case{"move-sgld-100", [] { return move<100>("sgld"); }},
    Case{"move-sgld-461x8", [] { return move<461, 8>("sgld"); }},
    Case{"row-block-move-32x8", [] { return row_block_move(false); }},
    Case{"row-block-move-32x8-weights", [] { return row_block_move(true); }},
    Case{"row-block-row-32x8", [] { return row_block_row(false); }},
    Case{"row-block-row-32x8-weights", [] { return row_block_row(true); }},
    Case{"predict-row-block-32", [] { return row_block_prediction(); }},
    Case{"round-linear-12", [] { return round("linear"); }},
    Case{"round-logistic-12", [] { return round("logistic"); }},
    Case{"round-stream-12", [] { return streamed_round(Horizon::kWindow); }},
    Case{"round-adaptive-12", [] { return streamed_round(Horizon::kAdaptive); }},
    Case{"round-fading-12", [] { return streamed_round(Horizon::kFading); }},
    Case{"predict-linear-12", [] { return predict(1, false); }},
    Case{"predict-draws-12", [] { return predict(1, true); }},
    Case{"predict-draws-12x256", [] { return predict(256, true); }},
    Case{"question-predict-12", [] { return question(predict_frame(11, 1)); }},
    Case{"question-posterior-12", [] { return question(posterior_frame()); }},
    Case{"reply-predict-1", [] { return reply(1); }},
    Case{"reply-predict-256", [] { return reply(256); }},
    Case{"message-dense-9x1",
         [] {
           return message({9, 0, 1});
         }},
    Case{"message-dense-9x256",
         [] {
           return message({9, 0, 256});
         }},
    Case{"message-sparse-8x256",
         [] {
           return message({460, 8, 256});
         }},
    Case{"conversation-dense-9x1",
         [] {
           return conversation({9, 0, 1});
         }},
    Case{"conversation-dense-9x256",
         [] {
           return conversation({9, 0, 256});
         }},
    Case{"producer-claim", [] { return claim(); }},
};

}  // namespace
}  // namespace windhover

int main(int argc, char** argv) {
  for (const windhover::Case& c : windhover::kCases) {
    if (argc < 2) {
      std::printf("%s\n", c.name.data());
    } else if (c.name == argv[1]) {
      const int times = c.run();
      std::printf("%d\n", times);
      return times > 0 ? 0 : 1;
    }
  }
  return argc < 2 ? 0 : 2;
}
