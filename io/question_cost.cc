#include "windhover/io/question_cost.h"

#include "windhover/samplers/registry.h"

namespace windhover {
namespace {

constexpr std::int64_t kFactorInCachesNs = 50'000;

// A quantile is found by steps of Newton's method, each of which sums over the mixture that y is.
struct Prices {
  std::int64_t quantile;
  std::int64_t threshold;
};

Prices prices_of(Response response, bool network) noexcept {
  switch (response) {
    case Response::kGaussian:
    case Response::kHeteroscedastic:
      return network ? Prices{23'000, 2'000} : Prices{1'600, 400};
    case Response::kLogNormal:
      return {1'600, 400};
    case Response::kStudent:
      return {18'000, 2'000};
    case Response::kCount:
      return {7'000, 1'500};
    case Response::kZeroInflatedCount:
      return {7'000, 1'500};
    case Response::kOverdispersedCount:
      return {14'000, 4'000};
    case Response::kBinomial:
      return {11'000, 4'000};
    default:
      return {10, 0};
  }
}

}  // namespace

std::int64_t QuestionCost::of_row(const PredictQuery& query) const noexcept {
  const auto quantiles = static_cast<std::int64_t>(query.quantile_probabilities.count) + 2;
  const auto thresholds = static_cast<std::int64_t>(query.thresholds.count);
  const std::int64_t key_ns = query.keys.count > 0 ? kKeyNs : 0;
  const std::int64_t spread_ns = query.posterior_spread ? 0 : wider_ns;
  return row_ns + spread_ns + key_ns + quantiles * quantile_ns + thresholds * threshold_ns;
}

QuestionCost question_cost(const EngineConfig& engine) noexcept {
  const ModelEntry& model = *find_model(engine.model.name);
  const std::int64_t dimension = engine.model.dimension();
  const std::int64_t draws = engine.retained_draws;
  const bool categorical = model.response == Response::kCategorical;
  const std::int64_t classes = categorical                                    ? engine.model.classes
                               : model.response == Response::kHeteroscedastic ? 2
                                                                              : 1;
  const std::int64_t factor = dimension * dimension / 2;
  const Prices prices = prices_of(model.response, model.network);
  QuestionCost cost;
  const bool diagonal = structure_of(engine) == Structure::kDiagonal;
  cost.row_ns =
      600 + (model.network ? 2 * draws * dimension : classes * (draws * dimension + factor) / 16);
  const bool wider = engine.dependent_spread == DependentSpread::kRobust;
  if (wider && !model.network && !diagonal) cost.wider_ns = classes * factor / 5;
  if (categorical) cost.row_ns += 1024 * classes * (classes + 8);
  cost.quantile_ns = prices.quantile;
  cost.threshold_ns = prices.threshold;
  cost.parameters_ns = 1'000 + 40 * dimension;
  cost.draw_ns = 3 * dimension;
  if (diagonal) {
    // Draws of columns that have had no row are made when they are asked for: 7 ns each, 100 ns for
    // one alone. Draws that are only read take 0.25 ns. Rows are charged 1 ns each, in between.
    cost.row_ns = 600 + draws * engine.model.max_nonzeros;
    cost.parameters_ns = 1'000 + 7 * draws * dimension;
    cost.draw_ns = 100 * dimension;
  }
  if (!model.network && !diagonal && factor / 16 > kFactorInCachesNs) cost.rows_together = 4;
  return cost;
}

}  // namespace windhover
