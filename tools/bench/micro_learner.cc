// The parts of a round of the learner that are not moves of chains; see micro_benchmarks.cc, which
// has whole rounds.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "windhover/runtime/diagnostics/consistency.h"
#include "windhover/runtime/diagnostics/score_series.h"
#include "windhover/runtime/learning/estimator.h"
#include "windhover/runtime/posterior/retained_draws.h"
#include "windhover/runtime/window/repeated_rows.h"
#include "windhover/samplers/estimates/diagnostics.h"
#include "windhover/tools/bench/heap_column.h"
#include "windhover/tools/bench/micro_stream.h"
#include "windhover/tools/error.h"
#include "windhover/tools/placed.h"

namespace windhover {
namespace {

constexpr std::uint64_t kRows = 4096;
constexpr std::uint32_t kDraws = 64;

std::uint32_t dimension_of(const benchmark::State& state) {
  return static_cast<std::uint32_t>(state.range(0));
}

// A linear model, dense rows of it, and what a learner knows of them.
class Pass {
 public:
  explicit Pass(std::uint32_t dimension, bool learn_prior_precision = false)
      : config_(with_defaults([&] {
          EngineConfig config = MicroStream::config("linear", dimension);
          config.model.learn_prior_precision = learn_prior_precision;
          return config;
        }())),
        layout_(config_.model),
        rows_(kRows * layout_.stride() * sizeof(double)),
        model_block_(std::size_t{1} << 24),
        model_arena_(model_block_.bytes()),
        model_(find_model("linear")->make(model_arena_, config_.model)),
        estimator_(config_),
        slots_(kRows) {
    find_model("linear")->reset(*model_);
    auto* rows = reinterpret_cast<double*>(rows_.bytes().data());
    for (std::uint64_t i = 0; i < kRows; ++i) {
      fill_normals(1, {i}, {rows + i * layout_.stride(), layout_.features() + std::size_t{1}});
    }
    std::iota(slots_.begin(), slots_.end(), 0U);
    estimator_->reset(config_);
    (void)estimator_->refresh(1.0, 1.0);  // the prior
    estimator_->begin_pass();
    estimator_->pass().add(*model_, batch(0, kRows), nullptr);
    estimator_->noise().measured().add_rows(*model_, batch(0, kRows), estimator_->laplace().mode());
    estimator_->end_pass();
    (void)estimator_->noise().end_pass(estimator_->done(), 1.0, nullptr);
    refresh();
  }

  RowBatch batch(std::uint64_t first, std::size_t count) const {
    return {reinterpret_cast<const double*>(rows_.bytes().data()), slots_.data() + first, count};
  }
  void refresh() {
    constexpr double kPriorMove = 0.1;
    if (!ok(estimator_->refresh(kRows, 1.0, 1e300, kPriorMove))) throw RunError("no estimates");
  }

  const EngineConfig& config() const { return config_; }
  const RowLayout& layout() const { return layout_; }
  Model& model() { return *model_; }
  Estimator& estimator() { return *estimator_; }
  // A point as far from the mean as a draw is.
  std::vector<double> draw() {
    std::vector<double> theta(config_.model.dimension());
    fill_normals(2, {1}, theta);
    estimator_->laplace().factor().solve_root(theta.data());
    for (std::size_t j = 0; j < theta.size(); ++j) {
      theta[j] = estimator_->laplace().mean()[j] + theta[j] / std::sqrt(static_cast<double>(kRows));
    }
    return theta;
  }

 private:
  EngineConfig config_;
  RowLayout layout_;
  MappedBlock rows_;
  MappedBlock model_block_;
  Arena model_arena_;
  Model* model_;
  Placed<Estimator> estimator_;
  std::vector<std::uint32_t> slots_;
};

// Everything anew from the sums of a pass: mode, mean, A and its factors, C.
void refresh(benchmark::State& state, bool learn_prior_precision) {
  Pass pass(dimension_of(state), learn_prior_precision);
  const HeapColumn heap(state);
  for (auto _ : state) pass.refresh();
}

// The rows that have come since the last round, and those that leave the window for them.
void add_and_remove(benchmark::State& state) {
  Pass pass(dimension_of(state));
  AnchorSums& sums = pass.estimator().done();
  const auto count = static_cast<std::size_t>(state.range(1));
  std::uint64_t first = 0;
  {
    const HeapColumn heap(state);
    for (auto _ : state) {
      sums.add(pass.model(), pass.batch(first, count), nullptr);
      benchmark::DoNotOptimize(sums.remove(pass.model(), pass.batch(first, count), nullptr,
                                           pass.estimator().prior().values()));
      first = (first + count) % kRows;
    }
  }
  state.SetItemsProcessed(state.range(1) * state.iterations());
}

// In the order of the stream: do rows depend on one another, are the newest like the rest?
void score_series(benchmark::State& state) {
  Pass pass(dimension_of(state));
  const Estimator& estimator = pass.estimator();
  const std::uint32_t dimension = dimension_of(state);
  Placed<ScoreSeries> scores(dimension);
  scores->reset();
  constexpr std::size_t kPiece = 64;
  {
    const HeapColumn heap(state);
    for (auto _ : state) {
      scores->begin_pass(kRows);
      for (std::uint64_t at = 0; at < kRows; at += kPiece) {
        scores->add(pass.model(), pass.batch(at, kPiece), estimator.laplace().mode(),
                    estimator.laplace().covariance(), estimator.laplace().n(), 1.0,
                    kRows - at - kPiece);
      }
      scores->end_pass();
    }
  }
  if (!scores->known()) state.SkipWithError("a pass that says nothing");
  state.SetItemsProcessed(static_cast<std::int64_t>(kRows) * state.iterations());
}

void repeated_rows(benchmark::State& state) {
  Pass pass(dimension_of(state));
  Placed<RepeatedRows> repeats(kRows);
  repeats->reset();
  {
    const HeapColumn heap(state);
    for (auto _ : state) {
      repeats->begin_pass();
      repeats->add(pass.layout(), pass.batch(0, kRows));
      repeats->end_pass();
    }
  }
  if (repeats->share() != 0) state.SkipWithError("rows that are none are counted as repeated");
  state.SetItemsProcessed(static_cast<std::int64_t>(kRows) * state.iterations());
}

void retain(benchmark::State& state) {
  Pass pass(dimension_of(state));
  const std::vector<double> theta = pass.draw();
  Placed<RetainedDraws> draws(dimension_of(state), kDraws, 1.0);
  draws->reset();
  const HeapColumn heap(state);
  for (auto _ : state) draws->retain(theta.data(), pass.estimator().laplace().mean(), kRows);
}

void transport_draws(benchmark::State& state) {
  Pass pass(dimension_of(state));
  const Factor& factor = pass.estimator().laplace().factor();
  Placed<RetainedDraws> draws(dimension_of(state), kDraws, 1.0);
  draws->reset();
  draws->fill_gaussian(factor, 1);
  const HeapColumn heap(state);
  for (auto _ : state) draws->transport(factor, factor, nullptr);
}

void consistency_add(benchmark::State& state) {
  Pass pass(dimension_of(state));
  const Estimator& estimator = pass.estimator();
  const std::vector<double> theta = pass.draw();
  Placed<Consistency> consistency(dimension_of(state), true, Consistency::Follows{});
  consistency->reset(0);
  double now = 0;
  const HeapColumn heap(state);
  for (auto _ : state) {
    consistency->add(theta.data(), estimator.laplace().mean(), kRows, estimator.laplace().factor(),
                     estimator.laplace().covariance(), now += 0.01);
  }
}

// With the default sampler's law, which takes a Lyapunov equation up to D = 32.
void consistency_ratio(benchmark::State& state) {
  MicroStream stream(MicroStream::config("linear", dimension_of(state)));
  const Learner& learner = stream.engine().learner();
  const Estimator& estimator = learner.view().estimator;
  Placed<Consistency> consistency(dimension_of(state), true, Consistency::Follows{});
  consistency->reset(0);
  std::vector<double> theta(dimension_of(state));
  for (std::uint64_t i = 0; i < 40 * theta.size() + 400; ++i) {
    fill_normals(2, {i}, theta);
    estimator.laplace().factor().solve_root(theta.data());
    for (double& x : theta) x /= std::sqrt(estimator.laplace().n());
    for (std::size_t j = 0; j < theta.size(); ++j) theta[j] += estimator.laplace().mean()[j];
    consistency->add(theta.data(), estimator.laplace().mean(), estimator.laplace().n(),
                     estimator.laplace().factor(), estimator.laplace().covariance(), 0);
  }
  const auto law = [&](double* preconditioner, double* injected) {
    learner.view().sampler->law(preconditioner, injected);
    return true;
  };
  Consistency::Ratio ratio;
  {
    const HeapColumn heap(state);
    for (auto _ : state) {
      ratio =
          consistency->ratio(estimator.laplace().curvature(), estimator.laplace().factor(),
                             estimator.noise().values().data(), estimator.laplace().covariance(),
                             learner.view().minibatch_size, estimator.laplace().n(), 1.0, law);
      benchmark::DoNotOptimize(ratio);
    }
  }
  if (!(ratio.smallest > 0)) state.SkipWithError("no ratio");
}

// One iterate of each of sixteen chains.
void diagnostics_add(benchmark::State& state) {
  constexpr std::uint32_t kChains = 16;
  Placed<ChainDiagnostics> diagnostics(kChains, dimension_of(state));
  diagnostics->reset();
  constexpr std::uint64_t kDistinct = 64;
  const std::size_t numbers = kChains * dimension_of(state);
  std::vector<double> thetas(kDistinct * numbers);
  fill_normals(1, {}, thetas);
  std::uint64_t i = 0;
  const HeapColumn heap(state);
  for (auto _ : state) diagnostics->add(&thetas[i++ % kDistinct * numbers]);
}

void diagnostics_summarize(benchmark::State& state) {
  constexpr std::uint32_t kChains = 16;
  const std::uint32_t dimension = dimension_of(state);
  Placed<ChainDiagnostics> diagnostics(kChains, dimension);
  diagnostics->reset();
  std::vector<double> thetas(kChains * std::size_t{dimension});
  for (std::uint64_t i = 0; i < 1000; ++i) {
    fill_normals(1, {i}, thetas);
    diagnostics->add(thetas.data());
  }
  std::vector<double> out(4 * std::size_t{dimension});
  const ChainDiagnostics::Summary summary{&out[0], &out[dimension], &out[2 * dimension],
                                          &out[3 * dimension]};
  const HeapColumn heap(state);
  for (auto _ : state) {
    diagnostics->summarize(summary);
    benchmark::DoNotOptimize(out.data());
  }
}

// One step of a learned prior precision.
void prior_precision(benchmark::State& state) {
  Pass pass(dimension_of(state), true);
  Placed<PriorPrecision> prior(pass.config().model);
  prior->reset(pass.config().model);
  const std::vector<double> variance(dimension_of(state), 1.0 / kRows);
  prior->mark();
  const HeapColumn heap(state);
  for (auto _ : state) {
    const Estimator& estimator = pass.estimator();
    benchmark::DoNotOptimize(prior->update(estimator.laplace().mode(), estimator.laplace().mean(),
                                           variance.data(), 0.1));
  }
}

// The inverse of A's factor, and A's inverse with it.
void inverse_factor(benchmark::State& state) {
  Pass pass(dimension_of(state));
  Placed<InverseFactor> inverse(dimension_of(state));
  std::vector<double> covariance(std::size_t{dimension_of(state)} * dimension_of(state));
  const HeapColumn heap(state);
  for (auto _ : state)
    inverse->compute(pass.estimator().laplace().factor(), 1.0, covariance.data());
}

// Its product with the rows of a request.
void whiten(benchmark::State& state) {
  Pass pass(dimension_of(state));
  const InverseFactor& inverse = pass.estimator().laplace().inverse_factor();
  const auto count = static_cast<std::size_t>(state.range(1));
  MappedBlock block(2 * count * inverse.stride() * sizeof(double));
  auto* x = reinterpret_cast<double*>(block.bytes().data());
  std::fill_n(x, count * inverse.stride(), 0.1);
  {
    const HeapColumn heap(state);
    for (auto _ : state) {
      inverse.whiten(x, count, x + count * inverse.stride());
      benchmark::ClobberMemory();
    }
  }
  state.SetItemsProcessed(state.range(1) * state.iterations());
}

// A round without a window: sixty-four fresh rows join the estimates and move every chain.
void take_in(benchmark::State& state, Horizon horizon) {
  constexpr std::uint32_t kFresh = 64;
  EngineConfig config = MicroStream::config("linear", dimension_of(state));
  config.horizon = horizon;
  config.sampler.minibatch_size = kFresh;
  config.sampler.chains = kDraws;
  config.draws_per_observation = 1;
  MicroStream stream(config);
  const std::uint64_t before = stream.rows().accepted();
  {
    const HeapColumn heap(state);
    for (auto _ : state) stream.round(kFresh);
  }
  if (stream.rows().accepted() - before !=
      kFresh * static_cast<std::uint64_t>(state.iterations())) {
    state.SkipWithError("rows were not taken");
  }
  state.SetItemsProcessed(kFresh * state.iterations());
}

BENCHMARK_CAPTURE(refresh, given_prior, false)->Name("estimator_refresh")->Arg(12)->Arg(100);
BENCHMARK_CAPTURE(refresh, learned_prior, true)
    ->Name("estimator_refresh_learned_prior")
    ->Arg(12)
    ->Arg(100);
BENCHMARK(add_and_remove)->Args({12, 16})->Args({100, 16});
BENCHMARK(score_series)->Arg(12)->Arg(100);
BENCHMARK(repeated_rows)->Arg(12)->Arg(100);
BENCHMARK(retain)->Arg(12)->Arg(100);
BENCHMARK(transport_draws)->Arg(12)->Arg(100);
BENCHMARK(consistency_add)->Arg(12)->Arg(100);
BENCHMARK(consistency_ratio)->Arg(12)->Arg(100);
BENCHMARK(diagnostics_add)->Arg(12)->Arg(100);
BENCHMARK(diagnostics_summarize)->Arg(12)->Arg(100);
BENCHMARK(prior_precision)->Arg(12)->Arg(100);
BENCHMARK(inverse_factor)->Arg(12)->Arg(100)->Arg(1000);
BENCHMARK(whiten)->ArgsProduct({{12, 100}, {1, 32}});
BENCHMARK_CAPTURE(take_in, all, Horizon::kAll)->Arg(12)->Arg(100);
BENCHMARK_CAPTURE(take_in, forgetting, Horizon::kForgetting)->Arg(12)->Arg(100);

}  // namespace
}  // namespace windhover
