// The parts of a round of the learner that are not moves of chains; see micro_benchmarks.cc, which
// has whole rounds.
#include "windhover/runtime/diagnostics/consistency.h"
#include "windhover/runtime/diagnostics/score_series.h"
#include "windhover/runtime/posterior/retained_draws.h"
#include "windhover/runtime/window/repeated_rows.h"
#include "windhover/samplers/estimates/diagnostics.h"
#include "windhover/tools/bench/heap_column.h"
#include "windhover/tools/bench/micro_pass.h"

namespace windhover::micro_learner {
namespace {

constexpr std::uint32_t kDraws = 64;

// Computes everything anew from the sums of a pass: mode, mean, A and its factors, C.
void refresh(benchmark::State& state, bool learn_prior_precision) {
  Pass pass(argument(state, 0), learn_prior_precision);
  measure(state, [&] { pass.refresh(); });
}

// Adds the rows that have come since the last round, and removes those that leave the window.
void add_and_remove(benchmark::State& state) {
  Pass pass(argument(state, 0));
  AnchorSums& sums = pass.estimator().sums().done();
  const auto count = static_cast<std::size_t>(state.range(1));
  std::uint64_t first = 0;
  measure(state, [&] {
    sums.add(pass.model(), pass.batch(first, count), nullptr);
    benchmark::DoNotOptimize(sums.remove(pass.model(), pass.batch(first, count), nullptr,
                                         pass.estimator().prior().values()));
    first = (first + count) % kPassRows;
  });
  state.SetItemsProcessed(state.range(1) * state.iterations());
}

// Scores the rows in the order of the stream, to see whether they depend on one another and whether
// the newest are like the rest.
void score_series(benchmark::State& state) {
  Pass pass(argument(state, 0));
  const Estimator& estimator = pass.estimator();
  const std::uint32_t dimension = argument(state, 0);
  Placed<ScoreSeries> scores(dimension);
  scores->reset();
  constexpr std::size_t kPiece = 64;
  measure(state, [&] {
    scores->begin_pass(kPassRows);
    for (std::uint64_t at = 0; at < kPassRows; at += kPiece) {
      scores->add(pass.model(), pass.batch(at, kPiece), estimator.laplace().mode(),
                  estimator.laplace().covariance(), estimator.laplace().n(), 1.0,
                  kPassRows - at - kPiece);
    }
    scores->end_pass();
  });
  if (!scores->known()) state.SkipWithError("a pass that says nothing");
  state.SetItemsProcessed(static_cast<std::int64_t>(kPassRows) * state.iterations());
}

void repeated_rows(benchmark::State& state) {
  Pass pass(argument(state, 0));
  Placed<RepeatedRows> repeats(kPassRows);
  repeats->reset();
  measure(state, [&] {
    repeats->begin_pass();
    repeats->add(pass.layout(), pass.batch(0, kPassRows));
    repeats->end_pass();
  });
  if (repeats->share() != 0) state.SkipWithError("rows that are none are counted as repeated");
  state.SetItemsProcessed(static_cast<std::int64_t>(kPassRows) * state.iterations());
}

void retain(benchmark::State& state) {
  Pass pass(argument(state, 0));
  const std::vector<double> theta = pass.draw();
  Placed<RetainedDraws> draws(argument(state, 0), kDraws, 1.0);
  draws->reset();
  measure(state,
          [&] { draws->retain(theta.data(), pass.estimator().laplace().mean(), kPassRows); });
}

void transport_draws(benchmark::State& state) {
  Pass pass(argument(state, 0));
  const Factor& factor = pass.estimator().laplace().factor();
  Placed<RetainedDraws> draws(argument(state, 0), kDraws, 1.0);
  draws->reset();
  draws->fill_gaussian(factor, 1);
  measure(state, [&] { draws->transport(factor, factor, nullptr); });
}

void consistency_add(benchmark::State& state) {
  Pass pass(argument(state, 0));
  const Estimator& estimator = pass.estimator();
  const std::vector<double> theta = pass.draw();
  Placed<Consistency> consistency(argument(state, 0), true, Consistency::Follows{});
  consistency->reset(0);
  double now = 0;
  measure(state, [&] {
    consistency->add(theta.data(), estimator.laplace().mean(), kPassRows,
                     estimator.laplace().factor(), estimator.laplace().covariance(), now += 0.01);
  });
}

// Includes the law of the default sampler, which takes a Lyapunov equation up to D = 32.
void consistency_ratio(benchmark::State& state) {
  MicroStream stream(MicroStream::config("linear", argument(state, 0)));
  const Learner& learner = stream.engine().learner();
  const Estimator& estimator = learner.view().estimator();
  const auto& laplace = estimator.laplace();
  Placed<Consistency> consistency(argument(state, 0), true, Consistency::Follows{});
  consistency->reset(0);
  std::vector<double> theta(argument(state, 0));
  for (std::uint64_t i = 0; i < 40 * theta.size() + 400; ++i) {
    fill_normals(2, {i}, theta);
    laplace.factor().solve_root(theta.data());
    for (double& x : theta) x /= std::sqrt(laplace.n());
    for (std::size_t j = 0; j < theta.size(); ++j) theta[j] += laplace.mean()[j];
    consistency->add(theta.data(), laplace.mean(), laplace.n(), laplace.factor(),
                     laplace.covariance(), 0);
  }
  const auto law = [&](double* preconditioner, double* injected) {
    learner.view().sampler->law(preconditioner, injected);
    return true;
  };
  Consistency::Ratio ratio;
  measure(state, [&] {
    ratio = consistency->ratio(laplace.curvature(), laplace.factor(),
                               estimator.noise().values().data(), laplace.covariance(),
                               learner.view().minibatch_size, laplace.n(), 1.0, law);
    benchmark::DoNotOptimize(ratio);
  });
  if (!(ratio.smallest > 0)) state.SkipWithError("no ratio");
}

// One iterate of each of sixteen chains.
void diagnostics_add(benchmark::State& state) {
  constexpr std::uint32_t kChains = 16;
  Placed<ChainDiagnostics> diagnostics(kChains, argument(state, 0));
  diagnostics->reset();
  constexpr std::uint64_t kDistinct = 64;
  const std::size_t numbers = kChains * argument(state, 0);
  std::vector<double> thetas(kDistinct * numbers);
  fill_normals(1, {}, thetas);
  std::uint64_t i = 0;
  measure(state, [&] { diagnostics->add(&thetas[i++ % kDistinct * numbers]); });
}

void diagnostics_summarize(benchmark::State& state) {
  constexpr std::uint32_t kChains = 16;
  const std::uint32_t dimension = argument(state, 0);
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
  measure(state, [&] {
    diagnostics->summarize(summary);
    benchmark::DoNotOptimize(out.data());
  });
}

// One step of a learned prior precision.
void prior_precision(benchmark::State& state) {
  Pass pass(argument(state, 0), true);
  Placed<PriorPrecision> prior(pass.config().model);
  prior->reset(pass.config().model);
  const std::vector<double> variance(argument(state, 0), 1.0 / kPassRows);
  prior->mark();
  measure(state, [&] {
    const Estimator& estimator = pass.estimator();
    benchmark::DoNotOptimize(prior->update(estimator.laplace().mode(), estimator.laplace().mean(),
                                           variance.data(), 0.1));
  });
}

// The inverse of A's factor, and A's inverse with it.
void inverse_factor(benchmark::State& state) {
  Pass pass(argument(state, 0));
  Placed<InverseFactor> inverse(argument(state, 0));
  std::vector<double> covariance(std::size_t{argument(state, 0)} * argument(state, 0));
  measure(state,
          [&] { inverse->compute(pass.estimator().laplace().factor(), 1.0, covariance.data()); });
}

// The product of the inverse factor with the rows of a request.
void whiten(benchmark::State& state) {
  Pass pass(argument(state, 0));
  const InverseFactor& inverse = pass.estimator().laplace().inverse_factor();
  const auto count = static_cast<std::size_t>(state.range(1));
  MappedBlock block(2 * count * inverse.stride() * sizeof(double));
  auto* x = reinterpret_cast<double*>(block.bytes().data());
  std::fill_n(x, count * inverse.stride(), 0.1);
  measure(state, [&] {
    inverse.whiten(x, count, x + count * inverse.stride());
    benchmark::ClobberMemory();
  });
  state.SetItemsProcessed(state.range(1) * state.iterations());
}

// A round without a window: 64 new rows join the estimates and move every chain.
void take_in(benchmark::State& state, Horizon horizon) {
  constexpr std::uint32_t kFresh = 64;
  EngineConfig config = MicroStream::config("linear", argument(state, 0));
  config.horizon = horizon;
  config.sampler.minibatch_size = kFresh;
  config.sampler.chains = kDraws;
  config.draws_per_observation = 1;
  MicroStream stream(config);
  const std::uint64_t before = stream.rows().accepted();
  measure(state, [&] { stream.round(kFresh); });
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
BENCHMARK_CAPTURE(take_in, fading, Horizon::kFading)->Arg(12)->Arg(100);

}  // namespace
}  // namespace windhover::micro_learner
