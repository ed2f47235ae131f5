// One core, no sockets: gradients against the roofline, sums against syrk, moves of a chain and
// preconditioners against gemv, normals; whole rounds of the engine and predictions in process.
#include "windhover/platform/cpu.h"
#include "windhover/platform/random.h"
#include "windhover/samplers/linear_algebra/interlude.h"
#include "windhover/tools/bench/harness.h"
#include "windhover/tools/bench/sampler_rig.h"
#include "windhover/tools/bench/step_runs.h"

namespace windhover {

namespace {

constexpr double kMovesARefresh = RigConfig{}.n / kStepMinibatch * SamplerRig::kChains;

// A gradient reads the features and the target of each row once (8 bytes a number, 4 an index), and
// multiplies and adds twice for each feature: the roofline is the slower of the two at the
// machine's best. The padding of rows does not count. Sparse rows (nonzeros above 0) count as many
// features as they have numbers, gathered.
void gradients(Runs& runs, std::uint32_t dimension, std::uint32_t nonzeros,
               const ComputeLimits& limits) {
  for (const bool in_cache : {true, false}) {
    const std::size_t row = nonzeros > 0 ? 8 + 12 * nonzeros : 8 * dimension;
    const std::size_t window = in_cache ? limits.l2_set : limits.dram_set;
    SamplerRig rig({.dimension = dimension,
                    .nonzeros = nonzeros,
                    .minibatch_size = kStepMinibatch,
                    .rows = std::max<std::uint64_t>(16, window / row)});
    const double gemv =
        nonzeros > 0 ? 0 : 2 * gemv_seconds(kStepMinibatch, dimension, runs.budget());
    const std::string shape = nonzeros > 0 ? fmt::format("sparse {} ", nonzeros) : "";
    const char* where = in_cache ? "L2" : "DRAM";
    runs.add(fmt::format("gradient D={} {}{}", dimension, shape, where), [&] {
      const double seconds = fastest(runs.budget(), [&] { rig.gradient(); }) / kStepMinibatch;
      const double flops = 4.0 * (nonzeros > 0 ? nonzeros : dimension);
      const auto bytes = static_cast<double>(row);
      const double by_flops = flops / limits.flops_double;
      const double by_bytes = bytes / (in_cache ? limits.l2_bytes : limits.dram_bytes);
      Figures figures{{"ns_per_example", 1e9 * seconds},
                      {"examples_per_second", 1 / seconds},
                      {"flops_per_example", flops},
                      {"bytes_per_example", bytes},
                      {"gflops", flops / seconds / 1e9},
                      {"gb_per_second", bytes / seconds / 1e9},
                      {"window_mib", static_cast<double>(rig.window_bytes()) / kMiB},
                      {"of_roofline", std::max(by_flops, by_bytes) / seconds}};
      // gemv is no limit for sparse rows.
      if (nonzeros == 0) figures.add("of_two_gemv", gemv / kStepMinibatch / seconds);
      return figures;
    });
  }
}

// The D x D sums over a minibatch, against the product of its rows with their transpose.
void sums(Runs& runs, std::uint32_t dimension) {
  const double syrk = syrk_seconds(kStepMinibatch, dimension, runs.budget());
  for (const char* model : {"linear", "logistic"}) {
    SamplerRig rig({.model = model, .dimension = dimension, .minibatch_size = kStepMinibatch});
    runs.add(fmt::format("sums {} D={} S={}", model, dimension, kStepMinibatch), [&] {
      const double noise = fastest(runs.budget() / 2, [&] { rig.add_noise(); });
      const double curvature = fastest(runs.budget() / 2, [&] { rig.add_curvature(); });
      return Figures{{"noise_us", 1e6 * noise},
                     {"noise_of_syrk", syrk / noise},
                     {"curvature_us", 1e6 * curvature},
                     {"curvature_of_syrk", syrk / curvature}};
    });
  }
}

// Seconds of a gemv with the rows of a minibatch, and with D rows.
struct MoveLimits {
  double gemv_rows;
  double gemv_square;
};

// A move is a gradient (two gemv of the minibatch) and a product with H (one of D x D), and where
// normals are injected half of one more, with a triangular root. The rig says whether they are:
// `calibrated` injects none where minibatches make enough noise.
void moves(Runs& runs, const char* sampler, RigConfig config, const MoveLimits& limits) {
  config.sampler = sampler;
  config.minibatch_size = kStepMinibatch;
  SamplerRig rig(config);
  const bool noise = rig.injects_noise();
  const double limit = 2 * limits.gemv_rows + (noise ? 1.5 : 1.0) * limits.gemv_square;
  runs.add(fmt::format("move {} {} D={} S={} N={}", sampler, noise ? "with normals" : "no normals",
                       config.dimension, kStepMinibatch, config.rows),
           [&] {
             const double seconds = fastest(runs.budget(), [&] { rig.move(); });
             const double gradient = fastest(runs.budget() / 2, [&] { rig.gradient(); });
             return Figures{{"us_per_move", 1e6 * seconds},
                            {"examples_per_second", kStepMinibatch / seconds},
                            {"gradient_us", 1e6 * gradient},
                            {"gradient_share", gradient / seconds},
                            {"window_mib", static_cast<double>(rig.window_bytes()) / kMiB},
                            {"of_gemv", limit / seconds}};
           });
}

// Measures moves with a window that the caches hold and with one of the default size.
void moves(Runs& runs, std::uint32_t dimension) {
  const MoveLimits limits{gemv_seconds(kStepMinibatch, dimension, runs.budget() / 2),
                          gemv_seconds(dimension, dimension, runs.budget() / 2)};
  const std::uint64_t rows = window_rows(dimension);
  RigConfig config{.dimension = dimension};
  if (config.rows < rows) moves(runs, "calibrated", config, limits);
  config.rows = rows;
  moves(runs, "calibrated", config, limits);
  moves(runs, "sgd-f", config, limits);
  // With so little minibatch noise tau = 5 times A is injected.
  config.gradient_noise = kStepMinibatch / config.n;
  moves(runs, "calibrated", config, limits);
}

// The longest time for which a computation runs without an interlude.
struct Pieces {
  double start = thread_seconds();
  double longest = 0;

  static void end(void* pieces) noexcept {
    Pieces& p = *static_cast<Pieces*>(pieces);
    const double now = thread_seconds();
    p.longest = std::max(p.longest, now - p.start);
    p.start = now;
  }
};

// The cost beside the gradient: D normals, and two products with a triangular D x D matrix.
// Amortised is the sampler's own refresh over n / S moves of each of the rig's chains, in which
// each chain draws as many rows as the posterior stands on. What else an engine does, and how often
// it refreshes, is measured in the rounds beside a stream.
void full_preconditioner(Runs& runs, std::uint32_t dimension) {
  SamplerRig rig({.sampler = "sgfs-f", .dimension = dimension, .minibatch_size = kStepMinibatch});
  const double gemv = gemv_seconds(dimension, dimension, runs.budget());
  runs.add(fmt::format("sgfs-f D={} S={}", dimension, kStepMinibatch), [&] {
    const double step = fastest(runs.budget(), [&] { rig.move(); });
    const double gradient = fastest(runs.budget(), [&] { rig.gradient(); });
    rig.refresh();
    const double refresh = rig.refresh_seconds();
    Pieces pieces;
    Interlude interlude(Pieces::end, &pieces);
    rig.refresh(&interlude);
    Pieces::end(&pieces);
    const double rest = step - gradient;
    return Figures{{"step_us", 1e6 * step},
                   {"gradient_us", 1e6 * gradient},
                   {"refresh_ms", 1e3 * refresh},
                   {"longest_piece_ms", 1e3 * pieces.longest},
                   {"gemv_us", 1e6 * gemv},
                   {"without_gradient_in_gemv", rest / gemv},
                   {"amortised_in_gemv", (rest + refresh / kMovesARefresh) / gemv},
                   {"with_gradient_in_gemv", (step + refresh / kMovesARefresh) / gemv}};
  });
}

void low_rank(Runs& runs, std::uint32_t dimension) {
  SamplerRig rig({.sampler = "sgfs-lr",
                  .dimension = dimension,
                  .minibatch_size = kStepMinibatch,
                  .rows = 2000,
                  .rank = 16});
  runs.add(fmt::format("sgfs-lr D={} r=16 S={}", dimension, kStepMinibatch), [&] {
    const double step = fastest(runs.budget(), [&] { rig.move(); });
    const double gradient = fastest(runs.budget(), [&] { rig.gradient(); });
    const double refresh = rig.refresh_seconds();  // once: it takes seconds
    return Figures{{"step_us", 1e6 * step},
                   {"gradient_us", 1e6 * gradient},
                   {"step_in_gradients", step / gradient},
                   {"refresh_ms", 1e3 * refresh},
                   {"amortised_in_gradients", (step + refresh / kMovesARefresh) / gradient}};
  });
}

// The time of a normal, also as the multiplications and additions that the machine could do in it.
void normals(Runs& runs, const ComputeLimits& limits) {
  std::vector<double> values(4096);
  const InstructionSet best = instruction_set();
  std::vector<InstructionSet> sets = {best};
  if (best != InstructionSet::kBaseline) sets.push_back(InstructionSet::kBaseline);
  for (const InstructionSet set : sets) {
    limit_instruction_set(set);
    for (const std::size_t count : {std::size_t{12}, values.size()}) {
      std::uint64_t round = 0;
      runs.add(fmt::format("normals {} {}", to_string(set), count), [&] {
        const double seconds =
            fastest(
                runs.budget(),
                [&] {
                  fill_normals(1, {round++, 0, Purpose::kInjectedNoise}, {values.data(), count});
                }) /
            static_cast<double>(count);
        return Figures{{"per_second", 1 / seconds},
                       {"flops_in_its_time", seconds * limits.flops_double}};
      });
    }
  }
  limit_instruction_set(best);
}

}  // namespace

Json run_step(const BenchOptions& options) {
  Runs runs(options.seconds > 0 ? options.seconds : 0.2);
  const ComputeLimits limits = measure_compute();
  Json json_limits = to_json(limits);
  const auto dimensions = list_or(options.dimensions, {10, 12, 100, 1000});
  for (const auto d : dimensions) (void)served_config(options, d);  // refuses what cannot be
  for (const auto d : dimensions) {
    json_limits[fmt::format("gemv_{}x{}_us", kStepMinibatch, d)] =
        1e6 * gemv_seconds(kStepMinibatch, d, runs.budget());
    json_limits[fmt::format("syrk_{}x{}_us", kStepMinibatch, d)] =
        1e6 * syrk_seconds(kStepMinibatch, d, runs.budget());
  }
  const bool all = options.dimensions.empty();
  for (const auto d : dimensions) gradients(runs, d, 0, limits);
  if (all) gradients(runs, 461, 8, limits);
  for (const auto d : dimensions) sums(runs, d);
  for (const auto d : list_or(options.dimensions, {12, 100, 1000})) moves(runs, d);
  for (const auto d : list_or(options.dimensions, {12, 100})) {
    if (d <= 200) {
      add_rounds(runs, d);
    } else {
      for (const char* sampler : {"sgfs-f", "calibrated"}) add_stream(runs, d, sampler);
    }
  }
  for (const auto d : list_or(options.dimensions, {500, 1000})) full_preconditioner(runs, d);
  for (const auto d : list_or(options.dimensions, {2000})) low_rank(runs, d);
  if (all) normals(runs, limits);
  for (const auto d : list_or(options.dimensions, {10, 100})) {
    if (d <= 200) add_predictions(runs, d, limits);
  }
  return {{"limits", std::move(json_limits)}, {"runs", runs.take()}};
}

}  // namespace windhover
