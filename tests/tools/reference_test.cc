#include "windhover/tools/fit/reference.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "windhover/tests/tools/support.h"

namespace windhover {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd example(Eigen::Index d, double spread) {
  MatrixXd m(d, d);
  for (Eigen::Index i = 0; i < d; ++i) {
    for (Eigen::Index j = 0; j < d; ++j)
      m(i, j) = std::sin(1.0 + 3.0 * double(i) + 5.0 * double(j));
  }
  return m * m.transpose() + spread * MatrixXd::Identity(d, d);
}

TEST(GaussianKl, IsZeroForEqualLawsAndKnownInOneDimension) {
  const MatrixXd p = example(6, 0.1);
  const VectorXd zero = VectorXd::Zero(6);
  EXPECT_NEAR(gaussian_kl(zero, p, zero, p), 0.0, 1e-13);
  const MatrixXd one = MatrixXd::Constant(1, 1, 1.0);
  const MatrixXd four = MatrixXd::Constant(1, 1, 4.0);
  const VectorXd a = VectorXd::Constant(1, 0.0);
  const VectorXd b = VectorXd::Constant(1, 3.0);
  EXPECT_NEAR(gaussian_kl(a, one, b, four), 0.5 * (0.25 + 9.0 / 4.0 - 1.0 + std::log(4.0)), 1e-14);
  EXPECT_NEAR(gaussian_kl(b, four, a, one), 0.5 * (4.0 + 9.0 - 1.0 - std::log(4.0)), 1e-14);
}

TEST(GaussianKl, DoesNotDependOnCoordinates) {
  const MatrixXd p = example(5, 0.5);
  const MatrixXd q = example(5, 2.0);
  const VectorXd m = VectorXd::LinSpaced(5, -1, 1);
  const VectorXd zero = VectorXd::Zero(5);
  MatrixXd t = example(5, 1.0);
  t(0, 4) += 3.0;
  EXPECT_NEAR(gaussian_kl(t * m, t * q * t.transpose(), zero, t * p * t.transpose()),
              gaussian_kl(m, q, zero, p), 1e-8);
}

TEST(GaussianKl, IsInfiniteForWhatIsNoCovariance) {
  const VectorXd zero = VectorXd::Zero(2);
  const MatrixXd good = MatrixXd::Identity(2, 2);
  MatrixXd bad = good;
  bad(1, 1) = -1;
  EXPECT_EQ(gaussian_kl(zero, bad, zero, good), HUGE_VAL);
  EXPECT_EQ(gaussian_kl(VectorXd::Constant(2, NAN), good, zero, good), HUGE_VAL);
}

TEST(StationaryCovariance, SolvesItsEquation) {
  const MatrixXd a = example(4, 1.0) / 30.0;
  const MatrixXd c = example(4, 3.0) / 10.0;
  const MatrixXd e = 0.1 * a;
  const MatrixXd h = 0.2 * example(4, 0.3) / 10.0;
  const auto sigma = stationary_covariance(h, a, c, e);
  ASSERT_TRUE(sigma.has_value());
  const MatrixXd m = MatrixXd::Identity(4, 4) - h * a;
  const MatrixXd right = m * *sigma * m.transpose() + h * (c + e) * h.transpose();
  EXPECT_LT((*sigma - right).norm(), 1e-12 * sigma->norm());
}

TEST(StationaryCovariance, IsNothingWhenTheStepIsTooLong) {
  const MatrixXd one = MatrixXd::Identity(2, 2);
  EXPECT_FALSE(stationary_covariance(3.0 * one, one, one, 0.0 * one).has_value());
}

// With injected noise of covariance (tau/N) A, H = 2 [(1 + tau) A + (N/S) C]^-1 is exact.
TEST(StationaryCovariance, OfTheCalibratedSamplerIsThePosterior) {
  const double n = 5000, s = 100, tau = 5;
  ReferencePosterior reference;
  reference.rows = n;
  reference.curvature = example(5, 0.4);
  reference.noise = example(5, 2.0);
  reference.covariance = reference.curvature.inverse() / n;
  reference.mode = VectorXd::Zero(5);
  const MatrixXd h = 2.0 * ((1 + tau) * reference.curvature + n / s * reference.noise).inverse();
  EXPECT_LT(stationary_kl(reference, h, s, tau / n * reference.curvature), 1e-12);
  EXPECT_GT(stationary_kl(reference, 1.2 * h, s, tau / n * reference.curvature), 1e-3);
}

Dataset small_dataset(bool binary) {
  std::string text = "a,b,y\n";
  for (int i = 0; i < 400; ++i) {
    const double a = std::sin(i * 1.7), b = std::cos(i * 0.9) * 3 + 10;
    const double y = 0.5 * a - 0.2 * b + std::sin(i * 12.9898) * 1.3 + 2;
    text += std::to_string(a) + "," + std::to_string(b) + "," +
            (binary ? (y > 0 ? "1" : "0") : std::to_string(y)) + "\n";
  }
  return load_dataset(file_with("posterior.csv", text), {.target = "y"});
}

TEST(ExactPosterior, LinearModeAnnihilatesTheGradient) {
  const Dataset data = small_dataset(false);
  const ReferencePosterior r = exact_posterior(
      data, {.prior_precision = 2, .intercept_precision = 0.5, .noise_variance = 0.7}, data.mean,
      data.sd);
  VectorXd gradient = VectorXd::Zero(3);
  for (std::size_t i = 0; i < data.rows(); ++i) {
    VectorXd x(3);
    x << (data.row(i)[0] - data.mean[0]) / data.sd[0], (data.row(i)[1] - data.mean[1]) / data.sd[1],
        1;
    gradient += x * (x.dot(r.mode) - data.targets[i]) / 0.7;
  }
  gradient += VectorXd(Eigen::Vector3d(2, 2, 0.5)).cwiseProduct(r.mode);
  EXPECT_LT(gradient.norm(), 1e-9);
  EXPECT_LT((r.covariance * r.curvature * r.rows - MatrixXd::Identity(3, 3)).norm(), 1e-12);
}

TEST(ExactPosterior, LearnsTheNoiseVarianceAsTheUnbiasedOne) {
  const Dataset data = small_dataset(false);
  const ReferencePosterior r = exact_posterior(
      data, {.prior_precision = 1e-8, .intercept_precision = 1e-8}, data.mean, data.sd);
  double squares = 0;
  for (std::size_t i = 0; i < data.rows(); ++i) {
    VectorXd x(3);
    x << (data.row(i)[0] - data.mean[0]) / data.sd[0], (data.row(i)[1] - data.mean[1]) / data.sd[1],
        1;
    squares += std::pow(x.dot(r.mode) - data.targets[i], 2);
  }
  EXPECT_NEAR(r.noise_variance, squares / (400.0 - 3.0), 1e-8);
}

TEST(ExactPosterior, LogisticModeIsFoundAlsoForSeparableData) {
  const Dataset data =
      load_dataset(file_with("separable.csv", "x,y\n-2,0\n-1,0\n1,1\n2,1\n"), {.target = "y"});
  const ReferencePosterior r = exact_posterior(data, {.logistic = true}, {0}, {1});
  double gradient = r.mode[0];
  for (std::size_t i = 0; i < data.rows(); ++i) {
    const double x = data.row(i)[0];
    gradient += x * (1 / (1 + std::exp(-(x * r.mode[0] + r.mode[1]))) - data.targets[i]);
  }
  EXPECT_NEAR(gradient, 0.0, 1e-12);
  EXPECT_NEAR(r.mode[1], 0.0, 1e-12);
}

TEST(ReadReference, NamesWhatIsWrong) {
  EXPECT_TRUE(says(refusal_of([] { (void)read_reference("/no/file.json"); }), "cannot read"));
  EXPECT_TRUE(says(refusal_of([] { (void)read_reference(file_with("bad.json", "[1,2]")); }),
                   "not a JSON object"));
  EXPECT_TRUE(says(refusal_of([] { (void)read_reference(file_with("none.json", "{\"N\": 3}")); }),
                   "has no key \"map\""));
  EXPECT_TRUE(says(refusal_of([] {
                     (void)read_reference(file_with(
                         "size.json", "{\"N\": 3, \"map\": [1, 2], \"posterior_cov\": [[1]]}"));
                   }),
                   "\"posterior_cov\" must be a matrix of 2 x 2 numbers"));
}

// The published files, when they are there: WINDHOVER_SHARED names the folder that holds them.

class PublishedReference : public ::testing::TestWithParam<std::string> {
 protected:
  static std::filesystem::path shared_folder() {
    const char* named = std::getenv("WINDHOVER_SHARED");
    return named != nullptr ? std::filesystem::path(named)
                            : std::filesystem::path(WINDHOVER_SOURCE_DIR) / "../shared";
  }
  std::filesystem::path reference_path() const {
    return shared_folder() / "reference" / (GetParam() + ".json");
  }
  bool missing() const { return !std::filesystem::exists(reference_path()); }

  Dataset data() const {
    const std::string name = GetParam().substr(0, 4);
    const auto path = [](const char* file) { return (shared_folder() / "data" / file).string(); };
    if (name == "wine") {
      return load_dataset(path("winequality-white.csv.gz"),
                          {.table = {.separator = ';'}, .target = "quality"});
    }
    if (name == "casp") return load_dataset(path("CASP.csv.gz"), {.target = "RMSD"});
    return load_dataset(
        path("Skin_NonSkin.txt.gz"),
        {.table = {.separator = '\t', .header = false}, .target = "4", .positive = "1"});
  }
};

double difference(const MatrixXd& a, const MatrixXd& b) { return (a - b).norm() / b.norm(); }

TEST_P(PublishedReference, AgreesWithOurs) {
  if (missing()) GTEST_SKIP() << reference_path() << " is not there";
  const ReferencePosterior published = read_reference(reference_path());
  const Dataset file = data();
  const bool standardized = GetParam().ends_with("_z");
  if (standardized) {
    for (std::size_t j = 0; j < file.columns(); ++j) {
      EXPECT_NEAR(file.mean[j] / published.feature_shift[j], 1.0, 1e-10);
      EXPECT_NEAR(file.sd[j] / published.feature_scale[j], 1.0, 1e-10);
    }
  }
  const bool logistic = GetParam().starts_with("skin");
  const ReferencePosterior ours = exact_posterior(
      file,
      {.logistic = logistic, .intercept = standardized, .noise_variance = published.noise_variance},
      published.feature_shift, published.feature_scale);
  EXPECT_EQ(ours.rows, published.rows);
  EXPECT_LT(difference(ours.mode, published.mode), 1e-8);
  EXPECT_LT(difference(ours.curvature, published.curvature), 1e-8);
  EXPECT_LT(difference(ours.noise, published.noise), 1e-8);
  EXPECT_LT(difference(ours.covariance, published.covariance), 1e-8);
  EXPECT_LT(gaussian_kl(ours.mode, ours.covariance, published.mode, published.covariance), 1e-9);
}

TEST_P(PublishedReference, LawsOfTheNamedSamplersAreReproduced) {
  if (missing()) GTEST_SKIP() << reference_path() << " is not there";
  const ReferencePosterior r = read_reference(reference_path());
  const nlohmann::json json = nlohmann::json::parse(std::ifstream(reference_path()));
  const double s = json["S"], n = r.rows;
  const auto d = double(r.dimension());
  const MatrixXd zero = MatrixXd::Zero(r.dimension(), r.dimension());
  const MatrixXd inverse_c = r.noise.inverse();
  const MatrixXd inverse_diagonal = r.noise.diagonal().cwiseInverse().asDiagonal();
  const MatrixXd one = MatrixXd::Identity(r.dimension(), r.dimension());
  const auto expect = [&](const char* name, const MatrixXd& h) {
    const double published = json["kl_reference"][name]["discrete_const_C"];
    EXPECT_NEAR(stationary_kl(r, h, s, zero), published, 1e-8 + 1e-7 * published) << name;
  };
  const MatrixXd h_star = 2.0 * (r.curvature + n / s * r.noise).inverse();
  EXPECT_LT(stationary_kl(r, h_star, s, zero), 1e-9);
  expect("h_star", h_star);
  expect("sgd", 2 * d * s / (n * r.noise.trace()) * one);
  expect("sgd_d", 2 * s / n * inverse_diagonal);
  expect("sgd_f", 2 * s / n * inverse_c);
  expect("sgfs_f_a0", 2 * s / (n + s) * inverse_c);
  expect("sgfs_d_a0", 2 * s / (n + s) * inverse_diagonal);
}

INSTANTIATE_TEST_SUITE_P(Files, PublishedReference,
                         ::testing::Values("wine_z", "casp_z", "skin_z", "wine_m", "casp_m",
                                           "skin_m"),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace windhover
