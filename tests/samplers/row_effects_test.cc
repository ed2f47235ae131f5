// What one row alone would do to a Gaussian posterior, against the definition.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "windhover/tests/samplers/model_contract.h"

namespace windhover::row_effects_test {
namespace {

// The row's loss and the Gaussian's are least together at m - t P g for the t that this finds, g
// the row's gradient at m: all its gradients lie along one line.
template <class Gradient>
double way_of_row(Gradient&& gradient, const Vector& m, const Matrix& p, double divisor) {
  const Vector g = gradient(m);
  double low = 0;
  double high = 1 / divisor;
  for (int i = 0; i < 200; ++i) {
    const double t = 0.5 * (low + high);
    const Vector there = gradient(m - t * (p * g));
    (t < g.dot(there) / g.squaredNorm() / divisor ? low : high) = t;
  }
  return low * low * g.dot(p * g);
}

TEST_P(ModelContract, row_effects_are_what_the_row_alone_would_do) {
  const Table table(config, x, y);
  const RowBatch all = table.all();
  const Matrix root = Matrix::Random(d, d);
  const Matrix p = 0.1 * (root * root.transpose() + Matrix::Identity(d, d));
  const Vector precision = Vector::Constant(d, 0.5);
  const double divisor = has_dispersion(model.response()) ? 1.7 : 1.0;
  model.set_dispersion(1.7);
  std::vector<RowEffect> effects(all.count);
  const RowJudge judge{theta.data(), p.data(), precision.data(), divisor, 0, 0, 0};
  if (!model.row_effects(all, judge, effects.data())) GTEST_SKIP() << "does not say";
  for (std::size_t i = 0; i < all.count; ++i) {
    const RowBatch row = all.part(i, 1);
    RowEffect alone;
    ASSERT_TRUE(model.row_effects(row, judge, &alone));
    EXPECT_EQ(alone.moved, effects[i].moved) << i;
    EXPECT_EQ(alone.information, effects[i].information) << i;
    if (!config.intercept && x.row(static_cast<Index>(i)).isZero()) {
      EXPECT_EQ(alone.moved, 0) << i;  // it says nothing
      continue;
    }
    EXPECT_GT(alone.known, 0) << i;
    if (model.response() == Response::kCategorical) {
      EXPECT_GT(alone.doubt, 0) << i;  // and no more is said
      continue;
    }
    EXPECT_GT(alone.information, 0) << i;
    if (model.response() == Response::kStudent) {
      EXPECT_GT(alone.surprise, 0) << i;
      continue;
    }
    if (model.response() == Response::kHeteroscedastic) {
      EXPECT_GT(alone.moved, 0) << i;  // two ways, which gradients do not lie along
      EXPECT_GT(alone.doubt, 0) << i;
      continue;
    }
    const double way = way_of_row(
        [&](const Vector& at) -> Vector { return gradient(model, row, at); }, theta, p, divisor);
    // For a zero far below its mean the gradient is next to nothing, and the way, the squared
    // difference of two numbers near 1, is only rounding.
    const double rounding = model.response() == Response::kZeroInflatedCount ? 1e-27 : 0.0;
    EXPECT_NEAR(alone.moved, way, std::max(1e-6 * way, rounding)) << i;
  }
}

// A linear model has them in closed form: with residual r, variance v of the linear predictor and s
// of the noise the mode moves by r v / (v + s).
TEST_P(ModelContract, row_effects_of_a_linear_model_are_those_of_a_kalman_filter) {
  if (!is_normal(model.response())) GTEST_SKIP();
  const Table table(config, x, y);
  const RowBatch all = table.all();
  const Matrix p = 0.3 * Matrix::Identity(d, d);
  const Vector precision = Vector::Constant(d, 2.0);
  constexpr double kNoise = 1.7;
  std::vector<RowEffect> effects(all.count);
  const RowJudge judge{theta.data(), p.data(), precision.data(), kNoise, 0, 0, 0};
  if (!model.row_effects(all, judge, effects.data())) GTEST_SKIP() << "a network";
  for (std::size_t i = 0; i < all.count; ++i) {
    if (!config.intercept && x.row(static_cast<Index>(i)).isZero()) continue;
    EXPECT_NEAR(effects[i].known, 0.3 * 2.0, 1e-12) << i;
    const Vector g = gradient(model, all.part(i, 1), theta);
    // g = r x, v = 0.3 |x|^2 and information = v / s.
    const double v = effects[i].information * kNoise;
    EXPECT_NEAR(effects[i].moved, 0.3 * g.squaredNorm() / ((v + kNoise) * (v + kNoise)),
                1e-9 * effects[i].moved)
        << i;
  }
}

// Bounds spare rows that cannot reach them the work, and no others.
TEST_P(ModelContract, row_effects_below_the_bounds_are_left_out) {
  const Table table(config, x, y);
  const RowBatch all = table.all();
  const Matrix p = Matrix::Identity(d, d);
  const Vector precision = Vector::Ones(d);
  std::vector<RowEffect> whole(all.count);
  std::vector<RowEffect> some(all.count);
  const RowJudge every{theta.data(), p.data(), precision.data(), 1.0, 0, 0, 0};
  const RowJudge few{theta.data(), p.data(), precision.data(), 1.0, 2, 1e300, 1e300};
  if (!model.row_effects(all, every, whole.data())) GTEST_SKIP() << "does not say";
  ASSERT_TRUE(model.row_effects(all, few, some.data()));
  for (std::size_t i = 0; i < all.count; ++i) {
    if (whole[i].moved > 2) {
      EXPECT_EQ(some[i].moved, whole[i].moved) << i;
    }
  }
}

}  // namespace
}  // namespace windhover::row_effects_test
