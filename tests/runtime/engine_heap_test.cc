// After create() an engine makes no heap call. The counter stands in for malloc in the whole test
// program; sanitizers bring a malloc of their own, so there the test is left out.
#include <gtest/gtest.h>

#ifndef WINDHOVER_SANITIZED

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <string_view>
#include <vector>

#include "windhover/tests/runtime/engine_fixture.h"

namespace {

std::atomic<std::uint64_t> heap_calls{0};
void count_heap_call() noexcept { heap_calls.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

extern "C" {
void* __libc_malloc(std::size_t size) noexcept;
void* __libc_calloc(std::size_t count, std::size_t size) noexcept;
void* __libc_realloc(void* old, std::size_t size) noexcept;
void* __libc_memalign(std::size_t alignment, std::size_t size) noexcept;

void* malloc(std::size_t size) noexcept {
  count_heap_call();
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  count_heap_call();
  return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) noexcept {
  count_heap_call();
  return __libc_realloc(old, size);
}
void* memalign(std::size_t alignment, std::size_t size) noexcept {
  count_heap_call();
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  count_heap_call();
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t size) noexcept {
  count_heap_call();
  *out = __libc_memalign(alignment, size);
  return *out != nullptr ? 0 : ENOMEM;
}
}

namespace windhover::test::engine_heap_test {
namespace {

// Runs from the first row to well into sampling, with the window turning over and questions in
// between.
void run_whole_life(const char* model, std::uint32_t features, bool learn_noise,
                    const SamplerConfig& sampler = {}, bool learn_prior = false,
                    Horizon horizon = Horizon::kWindow, bool offset = false,
                    SurprisingRows surprising = SurprisingRows::kKeep) {
  EngineConfig config = small_config(model, features, 0);
  config.window_size = 8 * std::uint64_t{config.model.dimension()};
  config.sampler = sampler;
  if (learn_noise) config.model.noise_variance = 0;
  std::vector<std::uint32_t> groups(learn_prior ? features : 0);
  for (std::uint32_t j = 0; j < groups.size(); ++j) groups[j] = j % 3;
  config.model.learn_prior_precision = learn_prior;
  config.model.prior_groups = groups;
  config.horizon = horizon;
  config.surprising_rows = surprising;
  config.score_predictions = true;
  config.labels = {.pending = 4, .timeout_seconds = 60, .timeout_outcome = 1};
  if (horizon == Horizon::kWindow) config.sampler.chains = 2;
  config.standardize = Standardize::kColdStart;
  const Index rows = static_cast<Index>(3 * config.window_size);
  const bool positive = config.model.name == "log-normal";
  const bool real =
      positive || config.model.name == "linear" || config.model.name == "heteroscedastic";
  Data data = real ? linear_data(rows, features, 1.0, 3) : logistic_data(rows, features, -0.5, 3);
  if (positive) data.y = data.y.array().exp();
  config.model.offset = offset;
  if (offset) data.offset = 0.5 * normals(4, rows);
  if (config.model.has_trials()) data.trials = (9 * uniforms(4, rows)).array().floor() + 1;
  TestEngine engine(config);
  Reader reader = engine->reader().value();
  std::vector<ParameterSummary> parameters(engine->dimension());
  std::vector<double> draws(std::size_t{engine->dimension()} * config.retained_draws);
  const std::vector<double> outcomes = {1.0, positive ? 2.0 : 0.0};
  const std::vector<double> levels = {0.1, 0.5, 0.9};
  std::vector<PredictiveSummary> answers(2);
  std::vector<RefusedRow> refused(4);
  Provenance provenance;
  PredictRequest request;
  request.rows = 2;
  request.features = {data.x.data(), 2 * std::size_t{features}};
  request.outcomes = outcomes;
  if (offset) request.offsets = outcomes;
  const std::vector<double> trials = {20, 1e6};
  if (config.model.has_trials()) request.trials = trials;
  if (!find_model(model)->network && config.model.name != "softmax") {
    request.quantile_probabilities = levels;
    request.thresholds = levels;
    request.thompson_id = 9;
  }
  const std::vector<std::string_view> keys = {"a", "b"};
  request.keys = keys;
  bool fine = true;
  Index fed = 0;

  const std::uint64_t before = heap_calls.load();
  for (int turn = 0; turn < 4000; ++turn) {
    if (fed < rows) {
      const Index count = std::min<Index>(std::max(32u, features), rows - fed);
      const ObserveResult result = engine->observe(TestEngine::batch(data, fed, count), refused);
      if (result.status == Status::kOk) fed += count;
    }
    const int done = engine->poll(2);
    if (turn % 50 == 0) {
      fine &= ok(reader.predict(request, answers, provenance));
      fine &= answers[1].pending == PendingKey::kKept;
      const ObserveResult joined = engine->labels().observe({keys, outcomes}, refused);
      fine &= joined.accepted == 2;
      fine &= ok(engine->labels().settle(10).status);
      fine &= ok(reader.posterior(parameters, provenance));
      fine &= ok(reader.draws(0, 0, config.retained_draws, draws, provenance));
      reader.release();
    }
    if (done == 0 && fed == rows) break;
  }
  const std::uint64_t calls = heap_calls.load() - before;

  EXPECT_TRUE(fine);
  EXPECT_EQ(fed, rows);
  EXPECT_EQ(engine->learner().view().phase, Learner::Phase::kSampling);
  EXPECT_EQ(calls, 0u) << model << " with " << features << " features";
}

TEST(EngineHeap, CounterSeesAnAllocation) {
  const std::uint64_t before = heap_calls.load();
  std::vector<double>* made = new std::vector<double>(100);
  const std::uint64_t calls = heap_calls.load() - before;
  delete made;
  EXPECT_EQ(calls, 2u);
}

// Into memory that is there already.
struct FixedStream final : Sink, Source {
  Status write(std::span<const std::byte> more) noexcept override {
    if (more.size() > bytes.size() - end) return Status::kTooLarge;
    std::copy(more.begin(), more.end(), bytes.begin() + static_cast<std::ptrdiff_t>(end));
    end += more.size();
    return Status::kOk;
  }
  Status read(std::span<std::byte> out) noexcept override {
    if (out.size() > end - at) return Status::kClosed;
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), out.size(), out.begin());
    at += out.size();
    return Status::kOk;
  }
  std::vector<std::byte> bytes = std::vector<std::byte>(std::size_t{1} << 22);
  std::size_t end = 0;
  std::size_t at = 0;
};

// Followed, captured, saved, refused, restored and fed with packed rows.
TEST(EngineHeap, SavingAndRestoringNeverCall) {
  for (const Horizon horizon :
       {Horizon::kWindow, Horizon::kAll, Horizon::kAdaptive, Horizon::kForgetting}) {
    EngineConfig config = small_config("logistic", 20, 500);
    config.horizon = horizon;
    config.checkpoints = true;
    config.max_followers = 1;
    const Data data = logistic_data(900, 20, 0.2, 3);
    TestEngine engine(config);
    engine.feed(data, 0, 800);
    engine.poll_until_idle();
    RowFollower follower = engine->follower().value();
    FixedStream saved, captured, nothing;
    std::vector<std::byte> frame(100 * 21 * sizeof(double));
    bool fine = true;

    const std::uint64_t before = heap_calls.load();
    fine &= ok(engine->state().save(saved));
    fine &= ok(engine->state().request_capture());
    engine->poll(3);
    fine &= ok(engine->observe(TestEngine::batch(data, 800, 100), {}).status);
    fine &= follower.pack(800, 100, frame) == frame.size();
    follower.keep_from(850);
    fine &= ok(engine->state().save_captured(captured, 850));
    engine->state().release_capture();
    fine &= engine->state().restore(nothing).status() == Status::kClosed;
    fine &= engine->state().restore(saved).ok();
    fine &= engine->observe_packed(frame, 100).accepted == 100;
    engine->progress().set_recovery_target(900);
    for (int i = 0; i < 50; ++i) engine->poll(2);
    fine &= engine->state().restore(captured).ok();
    const std::uint64_t calls = heap_calls.load() - before;

    EXPECT_TRUE(fine);
    EXPECT_EQ(engine->head(), 850u);
    EXPECT_EQ(calls, 0u);
  }
}

TEST(EngineHeap, SmallLinearNeverCalls) { run_whole_life("linear", 3, true); }
TEST(EngineHeap, SmallLogisticNeverCalls) { run_whole_life("logistic", 3, false); }
TEST(EngineHeap, PoissonNeverCalls) { run_whole_life("poisson", 4, true); }
TEST(EngineHeap, NegativeBinomialNeverCalls) { run_whole_life("negative-binomial", 4, true); }
TEST(EngineHeap, BinomialNeverCalls) {
  for (const Horizon horizon : {Horizon::kWindow, Horizon::kAll}) {
    run_whole_life("binomial", 4, false, {}, false, horizon);
  }
}

TEST(EngineHeap, HeteroscedasticNeverCalls) { run_whole_life("heteroscedastic", 4, true); }
TEST(EngineHeap, ZeroInflatedPoissonNeverCalls) {
  run_whole_life("zero-inflated-poisson", 4, true);
}
TEST(EngineHeap, LogNormalNeverCalls) { run_whole_life("log-normal", 4, true); }
TEST(EngineHeap, StudentNeverCalls) { run_whole_life("student-t", 4, false); }
TEST(EngineHeap, SoftmaxNeverCalls) { run_whole_life("softmax", 4, false); }
TEST(EngineHeap, RowsWithAnOffsetNeverCall) {
  for (const Horizon horizon : {Horizon::kWindow, Horizon::kAll}) {
    run_whole_life("poisson", 4, true, {}, false, horizon, true);
  }
}
TEST(EngineHeap, LearningThePriorNeverCalls) {
  for (const char* model : {"linear", "logistic", "student-t", "softmax"}) {
    run_whole_life(model, 30, true, {}, true);
  }
}
TEST(EngineHeap, DownWeightingNeverCalls) {
  run_whole_life("linear", 30, true, {}, false, Horizon::kWindow, false,
                 SurprisingRows::kDownWeight);
}
TEST(EngineHeap, NetworksNeverCall) {
  for (const char* model : {"mlp-linear", "mlp-logistic", "mlp-softmax", "drbm"}) {
    run_whole_life(model, 3, true);
  }
}
TEST(EngineHeap, LinearOfOneHundredNeverCalls) { run_whole_life("linear", 99, true); }
TEST(EngineHeap, LogisticOfOneHundredNeverCalls) { run_whole_life("logistic", 99, false); }
TEST(EngineHeap, DiagonalNoiseCovarianceNeverCalls) {
  run_whole_life("linear", 99, true,
                 {.name = "sgfs-d", .noise_structure = NoiseStructure::kDiagonal});
}
TEST(EngineHeap, ForgettingNeverCalls) {
  run_whole_life("linear", 5, true, {}, false, Horizon::kForgetting);
  run_whole_life("zero-inflated-poisson", 99, false, {}, false, Horizon::kForgetting);
}
TEST(EngineHeap, SinglePassesNeverCall) {
  for (const Horizon horizon : {Horizon::kFading, Horizon::kAll}) {
    run_whole_life("linear", 5, true, {}, false, horizon);
    run_whole_life("logistic", 99, false, {}, false, horizon);
  }
}
TEST(EngineHeap, LinearOfThreeHundredNeverCalls) { run_whole_life("linear", 299, false); }
TEST(EngineHeap, LogisticOfThreeHundredNeverCalls) { run_whole_life("logistic", 299, false); }

}  // namespace
}  // namespace windhover::test::engine_heap_test

#endif  // WINDHOVER_SANITIZED
