#include "windhover/tests/runtime/single_pass_streams.h"

#include <cmath>

#include "windhover/runtime/prediction/gaussian_mixture.h"

namespace windhover::test {

EngineConfig default_config(const char* model, Horizon horizon) {
  EngineConfig config;
  config.model.name = model;
  config.model.features = 2;
  config.horizon = horizon;
  config.window_size = kMemory;
  config.window_slack = 1024;
  config.max_frame_rows = 512;
  config.seed = 7;
  return config;
}

double count_of(double eta, double u) {
  const double mu = std::exp(eta);
  double below = std::exp(-mu);
  double chance = below;
  double y = 0;
  while (below < u && y < 1000) {
    y += 1;
    chance *= mu / y;
    below += chance;
  }
  return y;
}

Data data_of(const std::string& model, Index rows, std::uint64_t seed) {
  if (model == "logistic") return logistic_data(rows, 2, 0.3, seed);
  if (model == "heteroscedastic") {  // the same noise for all rows, whose log-variance is 0
    Data data = linear_data(rows, 2, 1.0, seed);
    VectorXd truth = VectorXd::Zero(6);
    truth.tail(3) = data.truth;
    data.truth = truth;
    return data;
  }
  if (model == "linear" || model == "student-t") return linear_data(rows, 2, 1.0, seed);
  if (model == "log-normal") {
    Data data = linear_data(rows, 2, 1.0, seed);
    data.y = data.y.array().exp();
    return data;
  }
  return inverted_data(rows, 2, 0.7, seed, count_of);
}

void stream(TestEngine& engine, const Data& data, Index first, Index last) {
  for (Index row = first; row < last; row += 50) {
    engine.feed(data, row, std::min(row + 50, last));
    engine.poll_until_idle();
  }
}

std::string at(const char* model, Horizon horizon) {
  return std::string(model) + ", " + to_string(horizon);
}

void expect_draws_agree(TestEngine& engine, const std::string& what, double law) {
  constexpr double kChance = 1e-4;
  const auto parameters = engine.parameters();
  const RowMatrix draws = engine.draws();
  const auto count = static_cast<double>(draws.rows());
  const double z = normal_quantile(1 - kChance / (4 * static_cast<double>(parameters.size())));
  const double part = 2 / (9 * count);
  const double wide = law * std::pow(1 - part + z * std::sqrt(part), 3);
  const double narrow = std::pow(1 - part - z * std::sqrt(part), 3) / law;
  for (std::size_t j = 0; j < parameters.size(); ++j) {
    const auto column = draws.col(static_cast<Index>(j));
    const double sd = parameters[j].sd_robust;
    const double square = (column.array() - column.mean()).square().mean() / (sd * sd);
    EXPECT_LT(square, wide) << what << ", parameter " << j;
    EXPECT_GT(square, narrow) << what << ", parameter " << j;
    EXPECT_LT(std::abs(column.mean() - parameters[j].mean) / sd, z * std::sqrt(law / count))
        << what << ", parameter " << j;
  }
}

void expect_what_ok_says(TestEngine& engine, const std::string& what) {
  const auto parameters = engine.parameters();
  const RowMatrix draws = engine.draws();
  const double spread = (std::sqrt(static_cast<double>(parameters.size())) + 1) /
                        std::sqrt(static_cast<double>(draws.rows()));
  const double wide = 1.3 * 1.125 * (1 + spread) * (1 + spread);
  const double narrow = (1 - spread) * (1 - spread) / (1.3 * 1.125);
  for (std::size_t j = 0; j < parameters.size(); ++j) {
    const VectorXd off = draws.col(static_cast<Index>(j)).array() - parameters[j].mean;
    const double square =
        off.squaredNorm() / static_cast<double>(off.size()) / std::pow(parameters[j].sd_robust, 2);
    EXPECT_LT(square, wide) << what << ", parameter " << j;
    EXPECT_GT(square, narrow) << what << ", parameter " << j;
  }
}

void expect_truth(TestEngine& engine, const Data& data, const std::string& what) {
  const auto parameters = engine.parameters();
  for (std::size_t j = 0; j < parameters.size(); ++j) {
    const double off = parameters[j].mean - data.truth[static_cast<Index>(j)];
    EXPECT_LT(std::abs(off) / parameters[j].sd_robust, 4.5) << what << ", parameter " << j;
  }
}

void expect_ok(TestEngine& engine, const std::string& what) {
  const Provenance p = engine.provenance();
  EXPECT_EQ(p.status, PosteriorStatus::kOk)
      << what << ": " << to_string(p.reason) << ", ou_ratio " << p.ou_ratio << ", misspecification "
      << p.misspecification_index;
}

std::uint64_t set_aside(TestEngine& engine) {
  return engine->counters().get(RuntimeCounter::kRowsSetAside);
}

}  // namespace windhover::test
