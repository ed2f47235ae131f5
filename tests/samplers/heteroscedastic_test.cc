#include "windhover/samplers/models/heteroscedastic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "windhover/tests/samplers/model_contract.h"

namespace windhover::heteroscedastic_test {
namespace {

constexpr Index kRows = 50;
constexpr Index kFeatures = 3;
constexpr Index kColumns = kFeatures + 1;

ModelConfig config_of() {
  ModelConfig config;
  config.name = HeteroscedasticModel::kName;
  config.features = kFeatures;
  return config;
}

struct World {
  World() {
    x = normals(31, kRows, kFeatures);
    y = normals(32, kRows, 1);
    theta = 0.5 * normals(33, 2 * kColumns, 1);
    design.resize(kRows, kColumns);
    design << x, Vector::Ones(kRows);
  }
  Model& made(const ModelConfig& config) {
    const ModelEntry& entry = *find_model(config.name);
    Model& model = *entry.make(memory.arena(), config);
    entry.reset(model);
    return model;
  }

  Memory memory;
  Matrix x;
  Matrix design;
  Vector y;
  Vector theta;
};

TEST(Heteroscedastic, LossIsMinusTheLogDensity) {
  World s;
  Model& model = s.made(config_of());
  const Vector log_variance = s.design * s.theta.head(kColumns);
  const Vector off = s.y - s.design * s.theta.tail(kColumns);
  const double expected =
      0.5 * (log_variance.array() + off.array().square() * (-log_variance.array()).exp()).sum();
  const Table table(config_of(), s.x, s.y);
  EXPECT_NEAR(model.loss_sum(table.all(), s.theta.data()), expected, 1e-11 * std::abs(expected));
}

// The Fisher information: the expectation of the gradient's outer product, by quadrature over y.
TEST(Heteroscedastic, CurvatureIsTheExpectedOuterProduct) {
  World s;
  Model& model = s.made(config_of());
  const Index d = 2 * kColumns;
  Matrix expected = Matrix::Zero(d, d);
  Vector g(d);
  for (Index i = 0; i < kRows; ++i) {
    const double mean = s.design.row(i).dot(s.theta.tail(kColumns));
    const double sd = std::exp(0.5 * s.design.row(i).dot(s.theta.head(kColumns)));
    for (double z = -8; z <= 8; z += 0.1) {
      const Table row(config_of(), s.x.row(i), Vector::Constant(1, mean + sd * z));
      model.gradient_sum(row.all(), s.theta.data(), g.data());
      expected += 0.1 * std::exp(-0.5 * z * z) / std::sqrt(2 * M_PI) * g * g.transpose();
    }
  }
  // The rows are at the model's own mean, where none is far off.
  const Table table(config_of(), s.x, s.design * s.theta.tail(kColumns));
  const auto w = static_cast<Index>(matrix_width(static_cast<std::size_t>(d)));
  Matrix matrix = Matrix::Zero(w, w);
  Vector gradient = Vector::Zero(d);
  CurvatureSums sums{gradient.data(), matrix.data(), nullptr};
  model.add_curvature(table.all(), s.theta.data(), nullptr, 1.0, sums);
  const Matrix found = matrix.topLeftCorner(d, d).selfadjointView<Eigen::Lower>();
  EXPECT_LT(relative_difference(found, expected), 1e-9);
}

// It is the mean's, and the log-variance does not know it.
TEST(Heteroscedastic, AnOffsetIsTakenFromTheTarget) {
  World s;
  ModelConfig with = config_of();
  with.offset = true;
  Model& offset = s.made(with);
  Model& plain = s.made(config_of());
  offset.target() = plain.target() = {0.3, 1.7};
  const Vector offsets = normals(34, kRows, 1);
  const Table rows(with, s.x, s.y, 0.0, offsets);
  const Table less(config_of(), s.x, s.y - offsets);
  EXPECT_NEAR(offset.loss_sum(rows.all(), s.theta.data()),
              plain.loss_sum(less.all(), s.theta.data()), 1e-10);
  Vector a(2 * kColumns);
  Vector b(2 * kColumns);
  offset.gradient_sum(rows.all(), s.theta.data(), a.data());
  plain.gradient_sum(less.all(), s.theta.data(), b.data());
  EXPECT_LT(relative_difference(a, b), 1e-12);
}

// Where the log-variance is known a row is what it is to a Kalman filter; where the mean is known,
// by its squared residual alone.
TEST(Heteroscedastic, EffectsOfRowsAreThoseOfEachPredictorAlone) {
  World s;
  Model& model = s.made(config_of());
  const Table table(config_of(), s.x, s.y);
  const Vector precision = Vector::Ones(2 * kColumns);
  std::vector<RowEffect> effects(kRows);
  for (const bool of_mean : {false, true}) {
    Matrix p = Matrix::Zero(2 * kColumns, 2 * kColumns);
    p.block(of_mean ? kColumns : 0, of_mean ? kColumns : 0, kColumns, kColumns) =
        0.3 * Matrix::Identity(kColumns, kColumns);
    const RowJudge judge{s.theta.data(), p.data(), precision.data(), 1, 0, 0, 0};
    ASSERT_TRUE(model.row_effects(table.all(), judge, effects.data()));
    for (Index i = 0; i < kRows; ++i) {
      const double noise = std::exp(s.design.row(i).dot(s.theta.head(kColumns)));
      const double off = s.y[i] - s.design.row(i).dot(s.theta.tail(kColumns));
      const double v = 0.3 * s.design.row(i).squaredNorm();
      const RowEffect& effect = effects[static_cast<std::size_t>(i)];
      if (of_mean) {
        EXPECT_NEAR(effect.moved, v * off * off / ((v + noise) * (v + noise)), 1e-9) << i;
        EXPECT_NEAR(effect.information, v / noise, 1e-9 * v / noise) << i;
        continue;
      }
      // s + off^2 exp(-s) + (s - before)^2 / v is least where its derivative is 0.
      const double way = std::sqrt(effect.moved * v) * (off * off > noise ? 1 : -1);
      const double left = 1 - off * off / noise * std::exp(-way) + 2 * way / v;
      EXPECT_NEAR(left, 0, 1e-6) << i;
      EXPECT_NEAR(effect.doubt, v, 1e-12 * v) << i;
    }
  }
}

}  // namespace
}  // namespace windhover::heteroscedastic_test
