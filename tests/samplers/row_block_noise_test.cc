// Row blocks of numbers whose noise is learned, against exact posteriors.
#include <cmath>

#include "windhover/samplers/row_blocks/row_block_langevin.h"
#include "windhover/tests/samplers/row_block_fixture.h"

namespace windhover::row_block_langevin_test {
namespace {

constexpr double kNoise = 2;
constexpr double kDegrees = 4;
double noise_variance = 1;  // for the likelihoods below

const Likelihood kNormal = {
    [](double eta, double y) { return 0.5 * (eta - y) * (eta - y) / noise_variance; },
    [](double eta, double y) { return (eta - y) / noise_variance; },
    [](double, double) { return 1 / noise_variance; }};

const Likelihood kStudent = {
    [](double eta, double y) {
      return 0.5 * (kDegrees + 1) * std::log1p((eta - y) * (eta - y) / (noise_variance * kDegrees));
    },
    [](double eta, double y) {
      return (kDegrees + 1) * (eta - y) / (kDegrees * noise_variance + (eta - y) * (eta - y));
    },
    [](double, double) { return (kDegrees + 1) / (kDegrees + 3) / noise_variance; }};

ModelConfig numbers(const char* name) {
  ModelConfig model = model_of(kCrossed, 3, 1);
  model.name = name;
  model.degrees_of_freedom = kDegrees;
  return model;
}

// Like crossed_rows(); the noise is Student's t of as many degrees of freedom where the model has
// it.
SparseData crossed_numbers(const ModelConfig& model, std::size_t rows, double sd) {
  SparseData data(model);
  for (std::size_t i = 0; i < rows; ++i) {
    const double u = uniform(3 * i);
    const double v = uniform(3 * i + 1);
    const auto a = static_cast<std::uint32_t>(kFirst * u * u);
    const auto b = static_cast<std::uint32_t>(kSecond * v * v);
    double z[5];
    fill_normals(77, {i, 0, Purpose::kTest}, z);
    const double square = (z[1] * z[1] + z[2] * z[2] + z[3] * z[3] + z[4] * z[4]) / kDegrees;
    const double noise = model.name == "student-t" ? z[0] / std::sqrt(square) : z[0];
    const double weight = model.weight ? std::exp(2 * uniform(9'500'000 + i) - 1) : 1;
    const double eta = 0.5 * std::sin(a + 1.0) + 0.8 * std::cos(2.0 * b) + 0.5 * std::sin(a * b);
    data.add({a, kFirst + b, kFirst + kSecond + a * kSecond + b}, {1, 1, 1},
             eta + sd * noise / std::sqrt(weight), weight);
  }
  return data;
}

// The noise noise_variance by MacKay's fixed point, of the rows and one of noise_variance 1.
double exact_noise(const SparseData& data, std::size_t first, double precision) {
  const MatrixXd x = data.design(first, data.size());
  const VectorXd y = data.targets(first, data.size());
  const VectorXd w = data.weights(first, data.size());
  const MatrixXd a = x.transpose() * w.asDiagonal() * x;
  const MatrixXd identity = MatrixXd::Identity(x.cols(), x.cols());
  double noise = 1;
  for (int step = 0; step < 100; ++step) {
    const MatrixXd covariance = (a / noise + precision * identity).inverse();
    const VectorXd mean = covariance * (x.transpose() * w.cwiseProduct(y)) / noise;
    const VectorXd off = y - x * mean;
    const double followed = static_cast<double>(x.cols()) - precision * covariance.trace();
    const double pseudo =
        std::max(0.0, 1 - static_cast<double>(x.rows()) / (2 * static_cast<double>(x.cols()) + 10));
    noise = (w.dot(off.cwiseAbs2()) + pseudo) / (w.sum() - followed + pseudo);
  }
  return noise;
}

struct NoiseFound {
  Draws draws;
  double noise = 0;
  double unsettled = 0;
  bool known = true;
};

// What four chains of each of `seeds` come to when rows have come and gone and `passes` are over.
NoiseFound noise_found(const ModelConfig& model, const SparseData& data, std::size_t window,
                       int seeds, int passes) {
  NoiseFound all;
  for (int seed = 1; seed <= seeds; ++seed) {
    Chains chains(model, 4, data.size(), static_cast<std::uint64_t>(seed));
    for (std::size_t i = 0; i < data.size(); ++i) {
      if (i >= window) {
        chains->leave(data.row(i - window), static_cast<std::uint32_t>(i - window));
      }
      EXPECT_TRUE(chains->enter(data.row(i), static_cast<std::uint32_t>(i)));
      chains.move(data, i < window ? 0 : i - window + 1, i + 1, 4);
      if (i % 16 == 0) chains->retain();
    }
    for (int pass = 0; pass < passes; ++pass) {
      chains.move(data, data.size() - window, data.size(), window);
      chains->retain();
    }
    for (std::uint16_t c = 0; c < 4; ++c) all.draws.add(chains.theta(c));
    all.noise += chains->noise().dispersion().value() / seeds;
    all.unsettled += chains->survey().unsettled / seeds;
    all.known = all.known && chains->noise().dispersion().known();
  }
  return all;
}

TEST(RowBlockNoise, LawIsThePosterior) {
  const ModelConfig model = numbers("linear");
  const SparseData data = crossed_numbers(model, 1'000, kNoise);
  const NoiseFound all = noise_found(model, data, data.size(), 80, 10);
  noise_variance = exact_noise(data, 0, 1);
  // Each pass of four chains tells what it is to sqrt(2 / 4000).
  EXPECT_NEAR(all.noise / noise_variance, 1, 0.02);
  EXPECT_TRUE(all.known);
  EXPECT_LT(all.unsettled, 0.1);
  const MatrixXd x = data.design(0, data.size());
  const Moments exact = exact_moments(data, 0, data.size(), 1, kNormal);
  expect_law(all.draws, exact, MatrixXd::Identity(x.cols(), x.cols()));
  expect_law(all.draws, exact, x.topRows(200));
}

// Little noise, weights, a window: what the prior alone says is not shared out yet.
TEST(RowBlockNoise, LawOfLittleNoiseIsThePosteriorOfPredictors) {
  ModelConfig model = numbers("linear");
  model.weight = true;
  constexpr std::size_t kWindow = 600;
  const SparseData data = crossed_numbers(model, 1'000, 0.3);
  const NoiseFound all = noise_found(model, data, kWindow, 60, 10);
  const std::size_t first = data.size() - kWindow;
  noise_variance = exact_noise(data, first, 1);
  EXPECT_NEAR(all.noise / noise_variance, 1, 0.02);
  EXPECT_GT(all.unsettled, 0.1);
  const Moments exact = exact_moments(data, first, data.size(), 1, kNormal);
  expect_law(all.draws, exact, data.design(first, data.size()).topRows(200));
}

TEST(RowBlockNoise, LawOfHeavyTailsIsThePosterior) {
  const ModelConfig model = numbers("student-t");
  SparseData data = crossed_numbers(model, 1'000, 1);
  data.add({1, kFirst + 1, kFirst + kSecond + 9}, {1, 1, 1}, 1e6);
  const NoiseFound all = noise_found(model, data, data.size(), 80, 10);
  // It is right to three of its sd of 0.042, and what the rows themselves tell.
  EXPECT_NEAR(all.noise, 1, 0.2);
  noise_variance = all.noise;
  const MatrixXd x = data.design(0, data.size());
  const Moments exact = exact_moments(data, 0, data.size(), 1, kStudent);
  expect_law(all.draws, exact, x.topRows(200));
}

// A row a million times as far out as the others, while it is there and after it has gone: what it
// brought to the sum of squares it takes along.
TEST(RowBlockNoise, AnOutlierTakesItsSquareAlong) {
  const ModelConfig model = numbers("linear");
  SparseData data = crossed_numbers(model, 300, kNoise);
  data.add({0, kFirst, kFirst + kSecond}, {1, 1, 1}, 1e6);
  Chains with(model, 4, 301, 1);
  for (std::size_t i = 0; i <= 300; ++i) {
    ASSERT_TRUE(with->enter(data.row(i), static_cast<std::uint32_t>(i)));
  }
  for (int pass = 0; pass < 20; ++pass) {
    with.move(data, 0, 301, 301);
    with->retain();
  }
  EXPECT_NEAR(with->noise().dispersion().value() / (1e12 / 301), 1, 0.05);
  with->leave(data.row(300), 300);
  std::uint64_t passes = 0;
  for (; passes < 400; ++passes) {
    with.move(data, 0, 300, 300);
    with->retain();
    const bool back = with->noise().dispersion().known() && with->survey().lag < 0.1 &&
                      with->spread_ratio() < 1.3;
    if (passes > 20 && back) break;
  }
  EXPECT_LT(passes, 400U);
  EXPECT_NEAR(with->noise().dispersion().value() / (kNoise * kNoise), 1, 0.35);
}

}  // namespace
}  // namespace windhover::row_block_langevin_test
