// What stands in a row beside features and target: an offset is one more feature whose coefficient
// is known, a weight is so many equal rows.
#include <gtest/gtest.h>

#include <vector>

#include "windhover/tests/samplers/model_contract.h"

namespace windhover::row_extras_test {
namespace {

bool takes_offsets(std::string_view name) {
  const ModelEntry& entry = *find_model(name);
  return !entry.network && entry.response != Response::kCategorical &&
         entry.response != Response::kBinomial;
}

// The vector without entry `at`.
Vector without(const Vector& v, Index at) {
  Vector out(v.size() - 1);
  out << v.head(at), v.tail(v.size() - at - 1);
  return out;
}

Matrix without(const Matrix& m, Index at) {
  Matrix out(m.rows() - 1, m.cols() - 1);
  for (Index j = 0; j < out.cols(); ++j) {
    out.col(j) = without(Vector(m.col(j < at ? j : j + 1)), at);
  }
  return out;
}

TEST_P(ModelContract, an_offset_is_a_feature_of_known_coefficient) {
  if (!takes_offsets(config.name)) GTEST_SKIP() << "takes none";
  if (config.name == "heteroscedastic") GTEST_SKIP() << "of the mean alone: heteroscedastic_test";
  const Index features = config.features;
  const Vector offsets = 0.5 * normals(21, kRows, 1);
  ModelConfig with = config;
  with.offset = true;
  Model& offset = make(with);
  ModelConfig wide = config;
  ++wide.features;
  if (wide.max_nonzeros > 0) ++wide.max_nonzeros;
  Model& wider = make(wide);
  TargetTransform target;
  if (has_target_units(model.response()) && config.intercept) target.shift = 0.3;
  if (is_number(model.response())) target.scale = 1.7;
  offset.target() = wider.target() = target;
  offset.set_dispersion(0.8);
  wider.set_dispersion(0.8);

  Matrix more(kRows, features + 1);
  more << x, offsets;
  Vector longer(d + 1);
  longer << theta.head(features), 1 / target.scale, theta.tail(d - features);
  const Table rows(with, x, y, 0.0, offsets);
  const Table wide_rows(wide, more, y);
  const auto close = [](const Matrix& a, const Matrix& b) { return relative_difference(a, b); };

  EXPECT_NEAR(offset.loss_sum(rows.all(), theta.data()),
              wider.loss_sum(wide_rows.all(), longer.data()),
              1e-10 * std::abs(wider.loss_sum(wide_rows.all(), longer.data())));

  const Vector at = theta;
  d += 1;  // for the fixture's helpers
  width = matrix_width(static_cast<std::size_t>(d));
  theta = longer;
  const Matrix root = Matrix::Random(d - 1, d - 1);
  const Matrix p = 0.1 * (root * root.transpose() + Matrix::Identity(d - 1, d - 1));
  Matrix wide_p = Matrix::Zero(d, d);
  for (Index j = 0; j < d; ++j) {
    for (Index k = 0; k < d; ++k) {
      if (j == features || k == features) continue;
      wide_p(j, k) = p(j < features ? j : j - 1, k < features ? k : k - 1);
    }
  }
  const Vector wide_gradient = gradient(wider, wide_rows.all(), longer);
  const auto wide_curvature = curvature(wider, wide_rows.all(), longer, &wide_p);
  const auto outer_of = [&](const Noise& of) -> Matrix {
    return of.outer.topLeftCorner(d, d).selfadjointView<Eigen::Lower>();
  };
  const auto wide_noise = noise(wider, wide_rows.all());
  const Matrix wide_outer = outer_of(wide_noise);
  const auto wide_start = wider.has_start() ? start_sums(wider, wide_rows.all()) : CurvatureAt{};
  d -= 1;
  width = matrix_width(static_cast<std::size_t>(d));
  theta = at;
  EXPECT_LT(close(gradient(offset, rows.all(), theta), without(wide_gradient, features)), 1e-12);
  const auto here = curvature(offset, rows.all(), theta, &p);
  EXPECT_LT(close(here.gradient, without(wide_curvature.gradient, features)), 1e-12);
  EXPECT_LT(close(here.curvature, without(wide_curvature.curvature, features)), 1e-12);
  EXPECT_LT((here.third - without(wide_curvature.third, features)).norm(),
            1e-10 * (1 + here.third.norm()));
  EXPECT_NEAR(here.loss, wide_curvature.loss, 1e-10 * std::abs(here.loss));
  EXPECT_NEAR(here.squares, wide_curvature.squares, 1e-10 * (1 + here.squares));
  const auto here_noise = noise(offset, rows.all());
  EXPECT_LT(close(outer_of(here_noise), without(wide_outer, features)), 1e-12);
  EXPECT_LT(close(here_noise.gradient, without(wide_noise.gradient, features)), 1e-12);
  if (!offset.has_start()) return;
  // The start is seen from theta = 0, where the wider model is not told its coefficient.
  const auto start = start_sums(offset, rows.all());
  EXPECT_LT(close(start.curvature, without(wide_start.curvature, features)), 1e-12);
  const Vector moved = wide_start.gradient + wide_start.curvature.col(features) / target.scale;
  EXPECT_LT(close(start.gradient, without(moved, features)), 1e-10);
}

TEST_P(ModelContract, an_offset_of_nothing_changes_nothing) {
  if (!takes_offsets(config.name)) GTEST_SKIP() << "takes none";
  ModelConfig with = config;
  with.offset = true;
  Model& offset = make(with);
  const Table rows(with, x, y);
  const Table plain(config, x, y);
  // A longer row may be summed in other chunks.
  EXPECT_LT(
      relative_difference(gradient(offset, rows.all(), theta), gradient(model, plain.all(), theta)),
      1e-13);
  EXPECT_EQ(offset.loss_sum(rows.all(), theta.data()), model.loss_sum(plain.all(), theta.data()));
}

// Row i counts as 1, 2, 3 or 4 rows: sums over rows with weights are those over as many equal rows,
// and squares of row gradients are those of the weighted ones.
TEST_P(ModelContract, a_weight_is_so_many_equal_rows) {
  if (find_model(config.name)->network) GTEST_SKIP() << "counts every row once";
  ModelConfig with = config;
  with.weight = true;
  with.offset = takes_offsets(config.name);
  Vector weights(kRows);
  const Vector offsets = 0.5 * normals(22, kRows, 1);
  std::vector<Index> copies;
  for (Index i = 0; i < kRows; ++i) {
    weights[i] = static_cast<double>(1 + i * i % 4);
    copies.insert(copies.end(), static_cast<std::size_t>(weights[i]), i);
  }
  ModelConfig without_weight = with;
  without_weight.weight = false;
  Model& weighted = make(with);
  Model& plain = make(without_weight);
  const Table rows(with, x, y, 0.0, offsets, weights);
  const Table single(without_weight, x, y, 0.0, offsets);
  const Table equal(without_weight, x(copies, Eigen::all), y(copies), 0.0, offsets(copies));
  TargetTransform target;
  if (has_target_units(model.response()) && config.intercept) target.shift = 0.3;
  if (is_number(model.response())) target.scale = 1.7;
  weighted.target() = plain.target() = target;
  weighted.set_dispersion(0.8);
  plain.set_dispersion(0.8);

  const double loss = plain.loss_sum(equal.all(), theta.data());
  EXPECT_NEAR(weighted.loss_sum(rows.all(), theta.data()), loss, 1e-12 * std::abs(loss));
  const Vector g = gradient(weighted, rows.all(), theta);
  EXPECT_LT(relative_difference(g, gradient(plain, equal.all(), theta)), 1e-12);
  const Matrix root = Matrix::Random(d, d);
  const Matrix p = 0.1 * (root * root.transpose() + Matrix::Identity(d, d));
  const auto found = curvature(weighted, rows.all(), theta, &p);
  const auto expected = curvature(plain, equal.all(), theta, &p);
  EXPECT_LT(relative_difference(found.gradient, expected.gradient), 1e-12);
  EXPECT_LT(relative_difference(found.curvature, expected.curvature), 1e-12);
  EXPECT_LT((found.third - expected.third).norm(), 1e-12 * (1 + expected.third.norm()));
  EXPECT_NEAR(found.loss, expected.loss, 1e-12 * std::abs(expected.loss));
  EXPECT_NEAR(found.squares, expected.squares, 1e-12 * expected.squares);
  EXPECT_EQ(found.rows, kRows);
  EXPECT_EQ(found.weight, weights.sum());
  EXPECT_EQ(found.squared_weight, weights.squaredNorm());
  EXPECT_NEAR(found.shape_gradient, expected.shape_gradient,
              1e-12 * (1 + std::abs(expected.shape_gradient)));
  EXPECT_NEAR(found.shape_curvature, expected.shape_curvature,
              1e-12 * (1 + std::abs(expected.shape_curvature)));
  if (weighted.has_start()) {
    const auto start = start_sums(weighted, rows.all());
    const auto of_equal = start_sums(plain, equal.all());
    EXPECT_LT(relative_difference(start.gradient, of_equal.gradient), 1e-12);
    EXPECT_LT(relative_difference(start.curvature, of_equal.curvature), 1e-12);
    EXPECT_EQ(start.weight, weights.sum());
  }

  Matrix one_by_one(d, kRows);  // row gradients, a column each
  plain.row_gradients(single.all(), static_cast<std::size_t>(d), theta.data(), one_by_one.data());
  const Matrix times_weight = one_by_one * weights.asDiagonal();
  Matrix of_rows(d, kRows);
  weighted.row_gradients(rows.all(), static_cast<std::size_t>(d), theta.data(), of_rows.data());
  EXPECT_LT(relative_difference(of_rows, times_weight), 1e-12);
  const Noise noise_of_rows = noise(weighted, rows.all());
  const Matrix outer = noise_of_rows.outer.topLeftCorner(d, d).selfadjointView<Eigen::Lower>();
  EXPECT_LT(relative_difference(outer, times_weight * times_weight.transpose()), 1e-12);
  EXPECT_LT(relative_difference(noise_of_rows.gradient, g), 1e-12);
  EXPECT_EQ(noise_of_rows.rows, kRows);
  const NoiseVariances variances = noise_variances(weighted, rows.all());
  EXPECT_LT(relative_difference(variances.squares, outer.diagonal()), 1e-12);
}

// Compares with central differences of the loss, for weights that are no whole numbers.
TEST_P(ModelContract, gradient_of_weighted_rows_is_the_derivative_of_their_loss) {
  if (find_model(config.name)->network) GTEST_SKIP() << "counts every row once";
  ModelConfig with = config;
  with.weight = true;
  Model& weighted = make(with);
  const Table rows(with, x, y, 0.0, {}, normals(23, kRows, 1).array().exp());
  const Vector g = gradient(weighted, rows.all(), theta);
  constexpr double kStep = 1e-5;
  for (Index j = 0; j < d; ++j) {
    Vector up = theta;
    Vector down = theta;
    up[j] += kStep;
    down[j] -= kStep;
    const double slope =
        (weighted.loss_sum(rows.all(), up.data()) - weighted.loss_sum(rows.all(), down.data())) /
        (2 * kStep);
    EXPECT_NEAR(g[j], slope, 1e-6 * (1 + g.norm())) << j;
  }
}

TEST_P(ModelContract, weights_say_nothing_of_what_a_single_row_would_do) {
  if (find_model(config.name)->network) GTEST_SKIP() << "counts every row once";
  ModelConfig with = config;
  with.weight = true;
  Model& weighted = make(with);
  const Table rows(with, x, y, 0.0, {}, Vector::Constant(kRows, 7));
  const Table plain(config, x, y);
  const Matrix covariance = 0.01 * Matrix::Identity(d, d);
  const Vector precision = Vector::Ones(d);
  const RowJudge judge{theta.data(), covariance.data(), precision.data(), 1, 0, 0, 0};
  std::vector<RowEffect> found(kRows);
  std::vector<RowEffect> expected(kRows);
  ASSERT_TRUE(weighted.row_effects(rows.all(), judge, found.data()));
  ASSERT_TRUE(model.row_effects(plain.all(), judge, expected.data()));
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].moved, expected[i].moved) << i;
    EXPECT_EQ(found[i].information, expected[i].information) << i;
    EXPECT_EQ(found[i].doubt, expected[i].doubt) << i;
  }
}

TEST(RowLayout, extras_stand_behind_all_else_and_cost_nothing_where_there_are_none) {
  for (const std::uint32_t nonzeros : {0U, 3U}) {
    ModelConfig config;
    config.features = 6;
    config.max_nonzeros = nonzeros;
    const RowLayout none(config);
    EXPECT_EQ(none.stride(), 8U);
    EXPECT_FALSE(none.has_offset());
    config.offset = true;
    const RowLayout one(config);
    EXPECT_EQ(one.offset_index(), 7U);
    EXPECT_EQ(one.stride(), 8U);
    EXPECT_GE(one.offset_index() * sizeof(double),
              one.indices_index() * sizeof(double) + nonzeros * sizeof(std::uint32_t));
    config.weight = true;
    const RowLayout two(config);
    EXPECT_EQ(two.offset_index(), 7U);
    EXPECT_EQ(two.weight_index(), 8U);
    EXPECT_EQ(two.extras(), 2U);
    EXPECT_EQ(two.stride(), 12U);
    config.offset = false;
    EXPECT_EQ(RowLayout(config).weight_index(), 7U);
    EXPECT_FALSE(RowLayout(config).has_offset());
  }
}

}  // namespace
}  // namespace windhover::row_extras_test
