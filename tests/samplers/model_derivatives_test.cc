// Derivatives and probabilities of the models against differences and sums by hand.
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string_view>
#include <vector>

#include "windhover/tests/samplers/model_contract.h"

namespace windhover::model_derivatives_test {
namespace {

// Central differences with step h err by O(h^2): 1e-9 here, and by rounding, eps / h: 1e-11.
constexpr double kStep = 1e-5;
constexpr double kTolerance = 1e-7;

TEST_P(ModelContract, gradient_is_the_difference_of_the_loss) {
  const Table table(config, x, y);
  const Vector g = gradient(model, table.all(), theta);
  Vector expected(d);
  for (Index j = 0; j < d; ++j) {
    const Vector step = kStep * Vector::Unit(d, j);
    expected(j) = (curvature(model, table.all(), theta + step).loss -
                   curvature(model, table.all(), theta - step).loss) /
                  (2 * kStep);
  }
  EXPECT_LT(relative_difference(g, expected), kTolerance);
  EXPECT_LT(relative_difference(curvature(model, table.all(), theta).gradient, g), 1e-12);
}

TEST_P(ModelContract, curvature_is_the_difference_of_the_gradient) {
  const Table table(config, x, y);
  const CurvatureAt found = curvature(model, table.all(), theta);
  if (model.curvature() == Curvature::kHessian) {
    EXPECT_LT(relative_difference(found.curvature, hessian(table, theta, kStep)), kTolerance);
  }
  EXPECT_EQ(found.rows, static_cast<double>(kRows));
  EXPECT_EQ(found.third, Vector::Zero(d)) << "third was not asked for";
}

TEST_P(ModelContract, third_is_the_difference_of_the_curvature) {
  if (model.curvature() == Curvature::kGaussNewton) return;  // leaves `third` at 0
  const Table table(config, x, y);
  const Matrix p = random_covariance(4, d);
  // A curvature that is no Hessian has another derivative: second differences of the gradient.
  const bool exact = model.curvature() == Curvature::kHessian;
  const double size = exact ? kStep : 1e-3;
  Vector expected(d);
  for (Index j = 0; j < d; ++j) {
    const Vector step = size * Vector::Unit(d, j);
    const Matrix change =
        exact ? Matrix(curvature(model, table.all(), theta + step).curvature -
                       curvature(model, table.all(), theta - step).curvature)
              : Matrix(hessian(table, theta + step, size) - hessian(table, theta - step, size));
    expected(j) = p.cwiseProduct(change).sum() / (2 * size);
  }
  const CurvatureAt found = curvature(model, table.all(), theta, &p);
  if (model.quadratic()) {
    EXPECT_EQ(found.third, Vector::Zero(d));
    EXPECT_LT(expected.cwiseAbs().maxCoeff(), 1e-6);
  } else {
    // Where residuals are far larger than their variance says, so is what is differenced here.
    const bool far = model.response() == Response::kHeteroscedastic;
    const double size_of_all = found.curvature.cwiseAbs().maxCoeff();
    const double size_of_third = far ? expected.cwiseAbs().maxCoeff() : 0.0;
    EXPECT_LT((found.third - expected).cwiseAbs().maxCoeff(),
              (exact ? kTolerance : 1e-4) * (size_of_all + size_of_third));
  }
}

// With H the Hessian of a canonical head, J^T H J is also the expectation of g g^T over y.
TEST_P(ModelContract, gauss_newton_is_the_expected_outer_product) {
  if (model.curvature() != Curvature::kGaussNewton) return;
  const Table table(config, x, y);
  Matrix expected = Matrix::Zero(d, d);
  std::vector<double> values = {0, 1, 2};
  if (model.response() == Response::kBernoulli) values.pop_back();
  for (Index i = 0; i < kRows; ++i) {
    for (const double value : values) {
      const Table row(config, x.row(i), Vector::Constant(1, value));
      const Vector g = gradient(model, row.all(), theta);
      if (model.response() == Response::kGaussian) {
        // g = (f - y) J: from two values of y, J.
        const Table other(config, x.row(i), Vector::Constant(1, value + 1));
        const Vector j = g - gradient(model, other.all(), theta);
        expected += j * j.transpose() / static_cast<double>(values.size());
      } else {
        expected += std::exp(-curvature(model, row.all(), theta).loss) * g * g.transpose();
      }
    }
  }
  EXPECT_LT(relative_difference(curvature(model, table.all(), theta).curvature, expected), 1e-10);
}

struct LossAndCurvature {
  double loss;
  Matrix curvature;
};
LossAndCurvature loss_and_curvature(Model& model, const RowBatch& batch, const Vector& theta) {
  const Index d = theta.size();
  const auto w = static_cast<Index>(matrix_width(static_cast<std::size_t>(d)));
  Matrix matrix = Matrix::Zero(w, w);
  Vector g = Vector::Zero(d);
  CurvatureSums sums{g.data(), matrix.data(), nullptr};
  model.add_curvature(batch, theta.data(), nullptr, 1.0, sums);
  return {sums.loss, matrix.topLeftCorner(d, d).selfadjointView<Eigen::Lower>()};
}
double loss(Model& model, const RowBatch& batch, const Vector& theta) {
  return loss_and_curvature(model, batch, theta).loss;
}

// Compares the gradient with central differences of the loss.
void expect_gradient_of_the_loss(Model& model, const RowBatch& batch, const Vector& theta) {
  Vector g(theta.size());
  model.gradient_sum(batch, theta.data(), g.data());
  for (Index j = 0; j < theta.size(); ++j) {
    const Vector step = kStep * Vector::Unit(theta.size(), j);
    const double above = loss(model, batch, theta + step);
    const double below = loss(model, batch, theta - step);
    EXPECT_NEAR(g(j), (above - below) / (2 * kStep), 1e-6 * (1 + g.norm())) << j;
  }
}

// Their numbers fill vectors, leave some of one empty, or take one more.
constexpr std::array<std::uint32_t, 5> kClasses = {3, 8, 9, 23, 32};

// Networks of several classes, with outer products (few classes) and a unit at a time (more).
std::vector<ModelConfig> networks_of_classes() {
  std::vector<ModelConfig> configs;
  for (const std::uint32_t classes : kClasses) {
    for (const std::uint32_t hidden2 : {0U, 3U}) {
      for (const std::string_view name : {"mlp-softmax", "drbm"}) {
        if (hidden2 > 0 && name == "drbm") continue;
        ModelConfig config;
        config.name = name;
        config.features = 6;
        config.hidden = 4;
        config.hidden2 = hidden2;
        config.classes = classes;
        configs.push_back(config);
      }
    }
  }
  return configs;
}

TEST(NetworkModel, curvature_of_many_classes_is_the_expected_outer_product) {
  constexpr Index kNetworkRows = 70;  // more than are summed at once
  for (const ModelConfig& config : networks_of_classes()) {
    Memory memory;
    Model& model = *find_model(config.name)->make(memory.arena(), config);
    find_model(config.name)->reset(model);
    const Index d = config.dimension();
    const Vector theta = normals(3, d, 1);
    const Matrix x = normals(4, kNetworkRows, 6);
    Matrix expected = Matrix::Zero(d, d);
    for (Index i = 0; i < kNetworkRows; ++i) {
      for (std::uint32_t c = 0; c < config.classes; ++c) {
        const Table row(config, x.row(i), Vector::Constant(1, c));
        Vector g(d);
        model.gradient_sum(row.all(), theta.data(), g.data());
        expected += std::exp(-loss(model, row.all(), theta)) * g * g.transpose();
      }
    }
    const Table table(config, x, Vector::Zero(kNetworkRows));
    EXPECT_LT(
        relative_difference(loss_and_curvature(model, table.all(), theta).curvature, expected),
        1e-10)
        << config.name << " " << config.classes << " " << config.hidden2;
  }
}

// Where the probability of a class rounds to 1 the curvature is what is left to the others; it has
// no direction of negative curvature beyond rounding (d machine epsilons of its largest one).
TEST(NetworkModel, curvature_of_certain_classes_is_positive_semidefinite) {
  constexpr Index kNetworkRows = 3;
  for (const ModelConfig& config : networks_of_classes()) {
    Memory memory;
    Model& model = *find_model(config.name)->make(memory.arena(), config);
    find_model(config.name)->reset(model);
    const Index d = config.dimension();
    for (const double size : {20.0, 40.0, 100.0}) {
      const Vector theta = size * normals(3, d, 1);
      const Table table(config, normals(4, kNetworkRows, 6), Vector::Zero(kNetworkRows));
      const Matrix found = loss_and_curvature(model, table.all(), theta).curvature;
      const Vector eigenvalues = symmetric_eigen(found).eigenvalues();
      const double rounding =
          static_cast<double>(d) * std::numeric_limits<double>::epsilon() * eigenvalues(d - 1);
      EXPECT_GE(eigenvalues(0), -rounding)
          << config.name << " " << config.classes << " " << config.hidden2 << ", " << size;
    }
  }
}

TEST(NetworkModel, every_activation_has_the_gradient_of_its_loss) {
  for (const Activation activation :
       {Activation::kTanh, Activation::kRelu, Activation::kLogistic}) {
    Memory memory;
    ModelConfig config;
    config.name = "mlp-linear";
    config.features = 3;
    config.hidden = 5;
    config.hidden2 = 4;
    config.activation = activation;
    Model& model = *find_model(config.name)->make(memory.arena(), config);
    find_model(config.name)->reset(model);
    const Index d = config.dimension();
    ASSERT_EQ(d, 5 * 4 + 4 * 6 + 5);
    Vector theta(d);
    model.initial(1, theta.data());
    const Table table(config, normals(1, 40, 3), normals(2, 40, 1));
    expect_gradient_of_the_loss(model, table.all(), theta);
  }
}

// Gradients go through products of matrices, some rows at a time; noise sums row by row.
TEST(NetworkModel, gradient_of_any_number_of_rows_is_the_sum_of_the_rows_own) {
  for (const std::uint32_t hidden2 : {0U, 7U}) {
    Memory memory;
    ModelConfig config;
    config.name = "mlp-softmax";
    config.features = 5;
    config.classes = 3;
    config.hidden = 9;
    config.hidden2 = hidden2;
    Model& model = *find_model(config.name)->make(memory.arena(), config);
    find_model(config.name)->reset(model);
    const Index d = config.dimension();
    const Vector theta = normals(3, d, 1);
    for (const Index rows : {1, 3, 64, 65, 150}) {
      Vector y(rows);
      for (Index i = 0; i < rows; ++i) y(i) = static_cast<double>(i % 3);
      const Table table(config, normals(4, rows, 5), y);
      Vector sum = Vector::Zero(d);
      Vector squares = Vector::Zero(d);
      NoiseVarianceSums sums{sum.data(), squares.data()};
      model.add_noise_variances(table.all(), theta.data(), sums);
      Vector g(d);
      model.gradient_sum(table.all(), theta.data(), g.data());
      EXPECT_LT(relative_difference(g, sum), 1e-12) << rows;
    }
  }
}

// Summed over the hidden units' states: p(y, h | x) is in proportion to
// exp(b_y + sum_j h_j (c_j + U_jy + w_j^T x)).
TEST(BoltzmannMachine, is_the_sum_over_its_hidden_states) {
  for (const std::uint32_t classes : kClasses) {
    Memory memory;
    ModelConfig config;
    config.name = "drbm";
    config.features = 2;
    config.hidden = 4;
    config.classes = classes;
    Model& model = *find_model(config.name)->make(memory.arena(), config);
    find_model(config.name)->reset(model);
    const Index others = static_cast<Index>(classes) - 1;
    const Index unit = 2 + 1 + others;
    const Index d = config.dimension();
    ASSERT_EQ(d, 4 * unit + others);
    const Vector theta = normals(3, d, 1);
    const Matrix x = normals(4, 1, 2);
    Vector weight = Vector::Zero(others + 1);
    for (Index y = 0; y <= others; ++y) {
      for (unsigned states = 0; states < 16; ++states) {
        double energy = y == 0 ? 0 : theta(d - others + y - 1);
        for (Index j = 0; j < 4; ++j) {
          if ((states >> j & 1) == 0) continue;
          const double u = y == 0 ? 0 : theta(unit * j + 2 + y);
          energy += theta(unit * j) * x(0) + theta(unit * j + 1) * x(1) + theta(unit * j + 2) + u;
        }
        weight(y) += std::exp(energy);
      }
    }
    for (Index y = 0; y <= others; ++y) {
      const Table table(config, x, Vector::Constant(1, static_cast<double>(y)));
      EXPECT_NEAR(std::exp(-loss(model, table.all(), theta)), weight(y) / weight.sum(), 1e-12)
          << classes << ", " << y;
    }
  }
}

TEST(BoltzmannMachine, gradient_is_that_of_the_loss) {
  for (const std::uint32_t classes : kClasses) {
    Memory memory;
    ModelConfig config;
    config.name = "drbm";
    config.features = 3;
    config.hidden = 2;
    config.classes = classes;
    Model& model = *find_model(config.name)->make(memory.arena(), config);
    find_model(config.name)->reset(model);
    const Index d = config.dimension();
    const Vector theta = normals(6, d, 1);
    Vector y(40);
    for (Index i = 0; i < 40; ++i) y(i) = static_cast<double>(i % static_cast<Index>(classes));
    const Table table(config, normals(7, 40, 3), y);
    SCOPED_TRACE(classes);
    expect_gradient_of_the_loss(model, table.all(), theta);
  }
}

// The units are so many that a product of their shares would be 2^-1024 at worst: logarithms are
// taken on the way.
TEST(BoltzmannMachine, with_many_units_is_as_exact) {
  Memory memory;
  ModelConfig config;
  config.name = "drbm";
  config.features = 1;
  config.hidden = 1024;
  Model& model = *find_model(config.name)->make(memory.arena(), config);
  find_model(config.name)->reset(model);
  const Index d = config.dimension();
  ASSERT_EQ(d, 3 * 1024 + 1);
  for (const double scale : {0.01, 1.0}) {
    const Vector theta = scale * normals(5, d, 1);
    double log_odds = theta(d - 1);
    for (Index j = 0; j < 1024; ++j) {
      const double in = 0.5 * theta(3 * j) + theta(3 * j + 1);
      log_odds += std::log1p(std::exp(in + theta(3 * j + 2))) - std::log1p(std::exp(in));
    }
    const Table table(config, Matrix::Constant(1, 1, 0.5), Vector::Constant(1, 1.0));
    EXPECT_NEAR(loss(model, table.all(), theta), std::log1p(std::exp(-log_odds)),
                1e-9 * (1 + std::abs(log_odds)));
  }
}

}  // namespace
}  // namespace windhover::model_derivatives_test
