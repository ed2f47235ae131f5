#include "windhover/samplers/estimates/noise_covariance.h"

#include <gtest/gtest.h>

#include "windhover/tests/samplers/heap_calls.h"
#include "windhover/tests/samplers/support.h"

namespace windhover::noise_covariance_test {
namespace {

constexpr std::uint32_t kDimension = 3;

ModelConfig row_config(std::uint32_t dimension) {
  ModelConfig config;
  config.features = dimension;
  config.intercept = false;
  return config;
}

// The weight of the newest estimate is always 1: matrix() is one minibatch's estimate.
SamplerConfig memoryless() {
  SamplerConfig config;
  config.decay = DecaySchedule::kConstant;
  config.decay_constant = 1.0;
  return config;
}

Matrix estimate_of(const NoiseCovariance& noise, Index d) {
  const auto width = static_cast<Index>(matrix_width(static_cast<std::size_t>(d)));
  const Eigen::Map<const Matrix> padded(noise.matrix(), width, width);
  return padded.topLeftCorner(d, d).selfadjointView<Eigen::Lower>();
}

struct Moments {
  Matrix mean = Matrix::Zero(kDimension, kDimension);
  double variance = 0;  // E |estimate - I|^2, Frobenius
};

// Estimates from fresh minibatches of Gaussian row gradients with covariance I.
template <class Add>
Moments moments_over_minibatches(std::size_t size, int repetitions, Add&& add) {
  Memory memory;
  RowGradientModel model(row_config(kDimension));
  NoiseCovariance noise(memory.arena(), memoryless(), kDimension);
  noise.reset();
  std::vector<std::uint32_t> slots(size);
  for (std::size_t i = 0; i < size; ++i) slots[i] = static_cast<std::uint32_t>(i);
  const std::size_t stride = RowLayout(row_config(kDimension)).stride();
  std::vector<double> rows(size * stride);
  Rng rng(size);
  const Vector theta = Vector::Zero(kDimension);
  Moments moments;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    rng.seek({.step = static_cast<std::uint64_t>(repetition)});
    rng.fill_normals(rows);
    add(noise, model, RowBatch{rows.data(), slots.data(), size}, theta.data());
    const Matrix estimate = estimate_of(noise, kDimension);
    moments.mean += estimate;
    moments.variance += (estimate - Matrix::Identity(kDimension, kDimension)).squaredNorm();
  }
  moments.mean /= repetitions;
  moments.variance /= repetitions;
  return moments;
}

class NoiseCovarianceSizes : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(MinibatchSizes, NoiseCovarianceSizes, testing::Values(2, 5, 20),
                         testing::PrintToStringParamName());

// 10^5 repetitions: an entry of the mean has standard error sqrt(2 / 10^5) = 0.0045 at most; the
// variances D (D + 1) / dof of a Wishart law, of standard error about 1 %.
TEST_P(NoiseCovarianceSizes, recursion_and_within_minibatch_are_unbiased_with_ratio_size_minus_1) {
  constexpr int kRepetitions = 100'000;
  const std::size_t size = GetParam();
  const Moments pair = moments_over_minibatches(
      size, kRepetitions, [](auto& noise, auto& model, const RowBatch& batch, const double* theta) {
        noise.add_pair(model, batch, theta);
      });
  const Moments within = moments_over_minibatches(
      size, kRepetitions, [](auto& noise, auto& model, const RowBatch& batch, const double* theta) {
        noise.add_minibatch(model, batch, theta);
      });
  const Matrix identity = Matrix::Identity(kDimension, kDimension);
  EXPECT_LT((pair.mean - identity).cwiseAbs().maxCoeff(), 0.02);
  EXPECT_LT((within.mean - identity).cwiseAbs().maxCoeff(), 0.02);
  // Without the factor S / (S - 1) the mean of eq. 21 would be 1 - 1/S: 0.5, 0.8, 0.95.
  EXPECT_NEAR(pair.mean.trace() / kDimension, 1.0, 0.01);
  const double ratio = pair.variance / within.variance;
  EXPECT_NEAR(ratio / static_cast<double>(size - 1), 1.0, 0.05);
  EXPECT_NEAR(pair.variance / (kDimension * (kDimension + 1)), 1.0, 0.05);
}

class WindowSweep : public testing::Test {
 protected:
  static constexpr Index kRows = 101;
  static constexpr std::uint32_t kFeatures = 4;

  WindowSweep()
      : x(normals(1, kRows, kFeatures)),
        y(normals(2, kRows, 1)),
        theta(normals(3, kFeatures + 1, 1)) {
    config.features = kFeatures;
    const ModelEntry* entry = find_model("linear");
    model = entry->make(memory.arena(), config);
    entry->reset(*model);
  }

  // The covariance over rows, divided by their number.
  Matrix exact(const Vector& at) const {
    Matrix rows(kRows, kFeatures + 1);
    rows << x, Vector::Ones(kRows);
    const Matrix g = (rows * at - y).asDiagonal() * rows;
    const Matrix centred = g.rowwise() - g.colwise().mean();
    return centred.transpose() * centred / static_cast<double>(kRows);
  }

  // A pass in uneven portions.
  void sweep(NoiseCovariance& noise, const Table& table, const Vector& at, double floor,
             Interlude* interlude = nullptr) const {
    for (std::size_t i = 0; i < kRows; i += 17) {
      noise.add_rows(*model, table.all().part(i, std::min<std::size_t>(17, kRows - i)), at.data());
    }
    noise.end_pass(floor, interlude);
  }

  Memory memory;
  ModelConfig config;
  Matrix x;
  Vector y;
  Vector theta;
  Model* model = nullptr;
};

TEST_F(WindowSweep, one_pass_at_a_fixed_theta_is_exact) {
  const Table table(config, x, y);
  NoiseCovariance noise(memory.arena(), SamplerConfig{}, config.dimension());
  noise.reset();
  EXPECT_EQ(noise.updates(), 0U);
  noise.end_pass(1.0);
  EXPECT_EQ(noise.updates(), 0U) << "a pass over no rows is none";
  sweep(noise, table, theta, 0.0);
  EXPECT_EQ(noise.updates(), 1U);
  EXPECT_EQ(noise.rows_in_pass(), 0.0);
  EXPECT_LT(relative_difference(estimate_of(noise, kFeatures + 1), exact(theta)), 1e-12);
}

TEST_F(WindowSweep, later_pass_is_blended_with_decay_or_floor) {
  const Table table(config, x, y);
  const Vector later = 2.0 * theta;
  for (const double floor : {0.0, 0.9, 5.0}) {
    SamplerConfig sampler_config;
    sampler_config.decay = DecaySchedule::kHarmonic;
    NoiseCovariance noise(memory.arena(), sampler_config, config.dimension());
    noise.reset();
    sweep(noise, table, theta, floor);
    sweep(noise, table, later, floor);
    const double weight = std::max(0.5, std::min(floor, 1.0));
    const Matrix expected = (1 - weight) * exact(theta) + weight * exact(later);
    EXPECT_LT(relative_difference(estimate_of(noise, kFeatures + 1), expected), 1e-12) << floor;
  }
}

// It would stay in the average for ever.
TEST_F(WindowSweep, pass_that_is_not_finite_is_left_out) {
  const Table table(config, x, y);
  for (const NoiseStructure structure : {NoiseStructure::kFull, NoiseStructure::kDiagonal}) {
    NoiseCovariance noise(memory.arena(), {.noise_structure = structure}, config.dimension());
    noise.reset();
    sweep(noise, table, theta, 0.0);
    sweep(noise, table, 1e200 * theta, 1.0);
    EXPECT_EQ(noise.updates(), 1U);
    EXPECT_EQ(noise.rows_in_pass(), 0.0);
    if (structure == NoiseStructure::kFull) {
      EXPECT_LT(relative_difference(estimate_of(noise, kFeatures + 1), exact(theta)), 1e-12);
    } else {
      const Vector variances = Eigen::Map<const Vector>(noise.variances(), kFeatures + 1);
      const Vector expected = exact(theta).diagonal();
      EXPECT_LT((variances - expected).norm(), 1e-12 * expected.norm());
    }
  }
}

TEST_F(WindowSweep, what_comes_in_between_changes_no_bit) {
  const Table table(config, x, y);
  NoiseCovariance alone(memory.arena(), SamplerConfig{}, config.dimension());
  NoiseCovariance interrupted(memory.arena(), SamplerConfig{}, config.dimension());
  int times = 0;
  Interlude interlude([](void* t) noexcept { ++*static_cast<int*>(t); }, &times, 1);
  for (NoiseCovariance* noise : {&alone, &interrupted}) {
    noise->reset();
    sweep(*noise, table, theta, 0.0, noise == &alone ? nullptr : &interlude);
    sweep(*noise, table, 2.0 * theta, 0.5, noise == &alone ? nullptr : &interlude);
  }
  EXPECT_EQ(estimate_of(interrupted, kFeatures + 1), estimate_of(alone, kFeatures + 1));
  EXPECT_GE(times, 2 * 3 * (kFeatures + 1)) << "a column of each of three sweeps";
}

TEST_F(WindowSweep, estimators_do_not_allocate) {
  if (!test_heap_calls()) GTEST_SKIP() << "sanitizers own the heap";
  const Table table(config, x, y);
  const auto before = test_heap_calls();
  for (const NoiseStructure structure : {NoiseStructure::kFull, NoiseStructure::kDiagonal}) {
    NoiseCovariance noise(memory.arena(), {.noise_structure = structure}, config.dimension());
    noise.reset();
    sweep(noise, table, theta, 0.0);
    noise.add_minibatch(*model, table.all(), theta.data());
    noise.add_pair(*model, table.all(), theta.data());
  }
  EXPECT_EQ(test_heap_calls(), before);
}

// The same stream, at an iterate that moves, through each of the three estimators.
TEST_F(WindowSweep, diagonal_structure_is_the_diagonal_of_the_full_one) {
  constexpr Index d = kFeatures + 1;
  for (const std::uint32_t nonzeros : {0U, kFeatures}) {
    ModelConfig rows = config;
    rows.max_nonzeros = nonzeros;
    model = find_model("linear")->make(memory.arena(), rows);
    find_model("linear")->reset(*model);
    const Table table(rows, x, y);
    const auto estimates = [&](NoiseStructure structure) {
      NoiseCovariance swept(memory.arena(), {.noise_structure = structure}, d);
      NoiseCovariance within(memory.arena(), {.noise_structure = structure}, d);
      NoiseCovariance pairs(memory.arena(), {.noise_structure = structure}, d);
      Matrix result(d, 3);
      for (NoiseCovariance* noise : {&swept, &within, &pairs}) noise->reset();
      for (int update = 0; update < 20; ++update) {
        const Vector at = (1 + 0.1 * update) * theta;
        const RowBatch minibatch = table.all().part(static_cast<std::size_t>(update), 10);
        sweep(swept, table, at, 0.0);
        within.add_minibatch(*model, minibatch, at.data());
        pairs.add_pair(*model, minibatch, at.data());
      }
      Index column = 0;
      for (const NoiseCovariance* noise : {&swept, &within, &pairs}) {
        EXPECT_EQ(noise->updates(), 20U);
        result.col(column++) = structure == NoiseStructure::kFull
                                   ? Vector(estimate_of(*noise, d).diagonal())
                                   : Vector(Eigen::Map<const Vector>(noise->variances(), d));
      }
      return result;
    };
    const Matrix full = estimates(NoiseStructure::kFull);
    const Matrix diagonal = estimates(NoiseStructure::kDiagonal);
    EXPECT_GT(full.minCoeff(), 0.0);
    EXPECT_LT((diagonal - full).cwiseQuotient(full).cwiseAbs().maxCoeff(), 1e-12) << nonzeros;
  }
}

TEST(NoiseStructureMemory, is_linear_in_the_dimension_when_diagonal) {
  const auto bytes = [](NoiseStructure structure, std::uint32_t dimension) {
    Arena measuring = Arena::measuring();
    NoiseCovariance noise(measuring, {.noise_structure = structure}, dimension);
    return measuring.used();
  };
  EXPECT_EQ(bytes(NoiseStructure::kDiagonal, 1000), 4 * 1000 * sizeof(double));
  EXPECT_GE(bytes(NoiseStructure::kFull, 1000), 2 * 1000 * 1000 * sizeof(double));
}

TEST_F(WindowSweep, minibatch_of_one_row_says_nothing) {
  const Table table(config, x, y);
  NoiseCovariance noise(memory.arena(), SamplerConfig{}, config.dimension());
  noise.reset();
  noise.add_minibatch(*model, table.all().part(0, 1), theta.data());
  noise.add_pair(*model, table.all().part(0, 1), theta.data());
  EXPECT_EQ(noise.updates(), 0U);
}

TEST(DecayWeight, schedules_have_their_closed_forms) {
  for (std::uint64_t t = 1; t < 1000; ++t) {
    const double time = static_cast<double>(t);
    EXPECT_EQ(decay_weight(DecaySchedule::kHarmonic, 4.0, t), 1.0 / time);
    EXPECT_EQ(decay_weight(DecaySchedule::kPolynomial, 4.0, t), 4.0 / (time + 3.0));
    EXPECT_EQ(decay_weight(DecaySchedule::kConstant, 0.1, t), t == 1 ? 1.0 : 0.1);
    EXPECT_EQ(decay_weight(DecaySchedule::kPolynomial, 1.0, t), 1.0 / time);
  }
}

// Two rows -a and a have covariance 2 a^2 by eq. 12; the estimates are fed one after another.
TEST(DecayWeight, estimate_is_the_weighted_sum_of_updates) {
  for (const DecaySchedule schedule :
       {DecaySchedule::kHarmonic, DecaySchedule::kPolynomial, DecaySchedule::kConstant}) {
    SamplerConfig config;
    config.decay = schedule;
    config.decay_constant = schedule == DecaySchedule::kConstant ? 0.25 : 3.0;
    Memory memory;
    RowGradientModel model(row_config(1));
    NoiseCovariance noise(memory.arena(), config, 1);
    noise.reset();
    const double theta = 0;
    double expected = 0;
    double sum = 0;
    for (std::uint64_t t = 1; t <= 50; ++t) {
      const double a = 0.1 * static_cast<double>(t);
      const Table table(row_config(1), Matrix{{-a}, {a}}, Vector::Zero(2));
      noise.add_minibatch(model, table.all(), &theta);
      const double weight = decay_weight(schedule, config.decay_constant, t);
      expected = (1 - weight) * expected + weight * 2 * a * a;
      sum += 2 * a * a;
      EXPECT_NEAR(estimate_of(noise, 1)(0, 0), expected, 1e-12);
      if (schedule == DecaySchedule::kHarmonic) {
        EXPECT_NEAR(expected, sum / static_cast<double>(t), 1e-12);
      }
    }
    EXPECT_EQ(noise.updates(), 50U);
  }
}

}  // namespace
}  // namespace windhover::noise_covariance_test
