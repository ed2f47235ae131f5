// The laws on reference problems computed elsewhere, once, in another language.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "windhover/samplers/linear_algebra/linear_algebra.h"
#include "windhover/tests/samplers/support.h"

namespace windhover::reference_test {
namespace {

std::filesystem::path reference_folder() {
  const char* shared = std::getenv("WINDHOVER_SHARED");
  const std::filesystem::path base =
      shared != nullptr ? shared : std::filesystem::path(WINDHOVER_SOURCE_DIR) / ".." / "shared";
  return base / "reference";
}

Matrix matrix_of(const nlohmann::json& rows) {
  const auto d = static_cast<Index>(rows.size());
  Matrix matrix(d, d);
  for (Index i = 0; i < d; ++i) {
    for (Index j = 0; j < d; ++j) {
      matrix(i, j) = rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)].get<double>();
    }
  }
  return matrix;
}

class ReferenceLaws : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::filesystem::path path = reference_folder() / (std::string(GetParam()) + ".json");
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "no file " << path;
    reference = nlohmann::json::parse(std::ifstream(path));
    estimates = {matrix_of(reference["A"]), matrix_of(reference["C"]), reference["N"].get<double>(),
                 reference["S"].get<double>()};
  }

  // KL of the stationary law with constant C against the posterior.
  double kl(std::string_view name, const SamplerConfig& config) const {
    const Index d = estimates.curvature.rows();
    const Law law = *law_of(name, config, estimates);
    Matrix sigma(d, d);
    std::vector<double> work(static_cast<std::size_t>(4 * d * d));
    const Matrix noise = estimates.noise / estimates.minibatch_size + law.injected;
    EXPECT_EQ(stationary_covariance(law.h.data(), estimates.curvature.data(), noise.data(), d,
                                    sigma.data(), work.data()),
              Status::kOk);
    return gaussian_kl(sigma, estimates.n * estimates.curvature);
  }

  nlohmann::json reference;
  OwnedEstimates estimates;
};

INSTANTIATE_TEST_SUITE_P(Files, ReferenceLaws,
                         testing::Values("wine_z", "wine_m", "casp_z", "casp_m", "skin_z",
                                         "skin_m"),
                         [](const auto& file) { return std::string(file.param); });

TEST_P(ReferenceLaws, distances_from_the_posterior_are_reproduced) {
  constexpr std::pair<const char*, const char*> kMethods[] = {
      {"sgd", "sgd"},           {"sgd_d", "sgd-d"},      {"sgd_f", "sgd-f"},
      {"h_star", "calibrated"}, {"sgfs_f_a0", "sgfs-f"}, {"sgfs_d_a0", "sgfs-d"}};
  for (const auto& [key, name] : kMethods) {
    const double expected = reference["kl_reference"][key]["discrete_const_C"].get<double>();
    EXPECT_NEAR(kl(name, noiseless_config()), expected, 1e-9 + 1e-6 * std::abs(expected)) << key;
  }
}

TEST_P(ReferenceLaws, default_sampler_hits_the_posterior) {
  EXPECT_LT(kl(SamplerConfig{}.name, SamplerConfig{}), 1e-9);
}

// What the best maximum of the likelihood known gives, and 5 %. Other maxima give 0.27 and 0.43 on
// wine, 0.083 and 0.099 on protein data.
class LowRankLaws : public ReferenceLaws {};

INSTANTIATE_TEST_SUITE_P(Files, LowRankLaws, testing::Values("wine_z", "casp_z"),
                         [](const auto& file) { return std::string(file.param); });

TEST_P(LowRankLaws, are_those_of_the_better_fit) {
  const bool wine = std::string_view(GetParam()) == "wine_z";
  SamplerConfig config = noiseless_config();
  config.rank = 4;
  EXPECT_LE(kl("sgfs-lr", config), wine ? 0.26 : 0.030);
  config.rank = 2;
  config.noise_scale = 1;
  EXPECT_LE(kl("sgfs-lr", config), wine ? 0.133 : 0.113);
}

TEST_P(ReferenceLaws, calibrated_preconditioner_is_reproduced) {
  const Law law = *law_of("calibrated", noiseless_config(), estimates);
  EXPECT_LT(relative_difference(law.h, matrix_of(reference["H_star"])), 1e-9);
}

}  // namespace
}  // namespace windhover::reference_test
