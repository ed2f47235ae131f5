// What stands in a row beside features and target: an offset is one more feature whose coefficient
// is known.
#include <gtest/gtest.h>

#include <vector>

#include "windhover/tests/samplers/model_contract.h"

namespace windhover::row_extras_test {
namespace {

bool takes_extras(std::string_view name) {
  const ModelEntry& entry = *find_model(name);
  return !entry.network && entry.response != Response::kCategorical;
}

// Without entry `at`.
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
  if (!takes_extras(config.name)) GTEST_SKIP() << "several linear predictors";
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
  if (has_dispersion(model.response())) target.scale = 1.7;
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
  d += 1;  // of the fixture's helpers
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
  if (!takes_extras(config.name)) GTEST_SKIP() << "several linear predictors";
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
  }
}

}  // namespace
}  // namespace windhover::row_extras_test
