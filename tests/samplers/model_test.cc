// Contract tests: every model of the registry, dense and sparse, with and without an intercept.
#include "windhover/samplers/models/model.h"

#include <gtest/gtest.h>

#include "windhover/tests/samplers/heap_calls.h"
#include "windhover/tests/samplers/support.h"

namespace windhover {
namespace {

constexpr Index kRows = 150;  // more than one chunk of the implementation, no multiple of 4

struct Case {
  std::string_view model;
  std::uint32_t features;
  bool intercept;
  bool sparse;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const ModelEntry& entry : model_registry()) {
    for (const std::uint32_t features : {1U, 2U, 3U, 4U, 7U, 17U}) {
      for (const bool intercept : {false, true}) {
        for (const bool sparse : {false, true}) {
          all.push_back({entry.name, features, intercept, sparse});
        }
      }
    }
  }
  return all;
}

std::string case_name(const testing::TestParamInfo<Case>& instance) {
  const Case& c = instance.param;
  return test_name(c.model) + "_" + std::to_string(c.features) + (c.intercept ? "_intercept" : "") +
         (c.sparse ? "_sparse" : "_dense");
}

ModelConfig config_of(const Case& c, bool sparse) {
  ModelConfig config;
  config.name = c.model;
  config.features = c.features;
  config.intercept = c.intercept;
  config.max_nonzeros = sparse ? c.features : 0;
  config.classes = 3;
  config.hidden = 3;
  config.hidden2 = c.features % 2 == 0 ? 2 : 0;
  return config;
}

class ModelContract : public testing::TestWithParam<Case> {
 protected:
  ModelContract()
      : config(config_of(GetParam(), GetParam().sparse)),
        d(config.dimension()),
        width(matrix_width(config.dimension())),
        x(features()),
        model(make(config)),
        y(targets()),
        theta(0.7 * normals(3, d, 1)) {}

  Model& make(const ModelConfig& model_config) {
    const ModelEntry* entry = find_model(model_config.name);
    Model* made = entry->make(memory.arena(), model_config);
    entry->reset(*made);
    return *made;
  }

  // A third of the entries is 0.
  Matrix features() const {
    const Matrix z = normals(1, kRows, config.features);
    return (z.array().abs() < 0.43).select(0.0, z);
  }
  // Real numbers where the model takes them, otherwise counts, otherwise 0 and 1.
  Vector targets() const {
    Vector z = normals(2, kRows, 1);
    for (double& value : z) {
      if (ok(model.check_target(value))) continue;
      const double count = std::floor(3 * std::abs(value));
      const double most = ok(model.check_target(9.0))   ? 9.0
                          : ok(model.check_target(2.0)) ? 2.0
                                                        : 1.0;
      value = std::min(count, most);
    }
    return z;
  }

  struct Noise {
    Vector gradient;
    Matrix outer;
    double rows;
  };
  Noise noise(Model& m, const RowBatch& batch) const {
    const auto w = static_cast<Index>(width);
    Noise result{Vector::Zero(d), Matrix::Zero(w, w), 0};
    NoiseSums sums{result.gradient.data(), result.outer.data()};
    m.add_noise(batch, theta.data(), sums);
    result.rows = sums.rows;
    return result;
  }

  struct NoiseVariances {
    Vector gradient;
    Vector squares;
    double rows;
  };
  NoiseVariances noise_variances(Model& m, const RowBatch& batch) const {
    NoiseVariances result{Vector::Zero(d), Vector::Zero(d), 0};
    NoiseVarianceSums sums{result.gradient.data(), result.squares.data()};
    m.add_noise_variances(batch, theta.data(), sums);
    result.rows = sums.rows;
    return result;
  }

  struct CurvatureAt {
    Vector gradient;
    Matrix curvature;  // both triangles, d x d
    Matrix padded;
    Vector third;
    double loss;
    double rows;
  };
  CurvatureAt curvature(Model& m, const RowBatch& batch, const Vector& at,
                        const Matrix* covariance = nullptr) const {
    const auto w = static_cast<Index>(width);
    CurvatureAt result{Vector::Zero(d), {}, Matrix::Zero(w, w), Vector::Zero(d), 0, 0};
    CurvatureSums sums{result.gradient.data(), result.padded.data(), result.third.data()};
    m.add_curvature(batch, at.data(), covariance == nullptr ? nullptr : covariance->data(), 1.0,
                    sums);
    result.curvature = result.padded.topLeftCorner(d, d).selfadjointView<Eigen::Lower>();
    result.loss = sums.loss;
    result.rows = sums.rows;
    return result;
  }

  // By central differences of the gradient.
  Matrix hessian(const Table& table, const Vector& at, double size) const {
    Matrix h(d, d);
    for (Index j = 0; j < d; ++j) {
      const Vector step = size * Vector::Unit(d, j);
      h.col(j) =
          (gradient(model, table.all(), at + step) - gradient(model, table.all(), at - step)) /
          (2 * size);
    }
    return h;
  }

  Vector gradient(Model& m, const RowBatch& batch, const Vector& at) const {
    Vector g = Vector::Constant(d, NAN);
    m.gradient_sum(batch, at.data(), g.data());
    return g;
  }

  Memory memory;
  ModelConfig config;
  Index d;
  std::size_t width;
  Matrix x;
  Model& model;
  Vector y;
  Vector theta;
};

INSTANTIATE_TEST_SUITE_P(Registry, ModelContract, testing::ValuesIn(cases()), case_name);

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
    EXPECT_LT((found.third - expected).cwiseAbs().maxCoeff(),
              (exact ? kTolerance : 1e-4) * found.curvature.cwiseAbs().maxCoeff());
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
    const auto loss = [&](const Vector& at) {
      const auto w = static_cast<Index>(matrix_width(static_cast<std::size_t>(d)));
      Matrix matrix = Matrix::Zero(w, w);
      Vector g = Vector::Zero(d);
      CurvatureSums sums{g.data(), matrix.data(), nullptr};
      model.add_curvature(table.all(), at.data(), nullptr, 1.0, sums);
      return sums.loss;
    };
    Vector g(d);
    model.gradient_sum(table.all(), theta.data(), g.data());
    for (Index j = 0; j < d; ++j) {
      const Vector step = kStep * Vector::Unit(d, j);
      EXPECT_NEAR(g(j), (loss(theta + step) - loss(theta - step)) / (2 * kStep),
                  1e-6 * (1 + g.norm()));
    }
  }
}

// Summed over the hidden units' states: p(y, h | x) is in proportion to
// exp(b_y + sum_j h_j (c_j + U_jy + w_j^T x)).
TEST(BoltzmannMachine, is_the_sum_over_its_hidden_states) {
  Memory memory;
  ModelConfig config;
  config.name = "drbm";
  config.features = 2;
  config.hidden = 4;
  config.classes = 3;
  Model& model = *find_model(config.name)->make(memory.arena(), config);
  find_model(config.name)->reset(model);
  const Index d = config.dimension();
  ASSERT_EQ(d, 4 * (2 + 1 + 2) + 2);
  const Vector theta = normals(3, d, 1);
  const Matrix x = normals(4, 1, 2);
  std::array<double, 3> weight{};
  for (std::size_t y = 0; y < 3; ++y) {
    for (unsigned states = 0; states < 16; ++states) {
      double energy = y == 0 ? 0 : theta(d - 2 + static_cast<Index>(y) - 1);
      for (Index j = 0; j < 4; ++j) {
        if ((states >> j & 1) == 0) continue;
        const double u = y == 0 ? 0 : theta(5 * j + 2 + static_cast<Index>(y));
        energy += theta(5 * j) * x(0) + theta(5 * j + 1) * x(1) + theta(5 * j + 2) + u;
      }
      weight[y] += std::exp(energy);
    }
  }
  const double total = weight[0] + weight[1] + weight[2];
  for (std::size_t y = 0; y < 3; ++y) {
    const Table table(config, x, Vector::Constant(1, static_cast<double>(y)));
    const auto w = static_cast<Index>(matrix_width(static_cast<std::size_t>(d)));
    Matrix matrix = Matrix::Zero(w, w);
    Vector g = Vector::Zero(d);
    CurvatureSums sums{g.data(), matrix.data(), nullptr};
    model.add_curvature(table.all(), theta.data(), nullptr, 1.0, sums);
    EXPECT_NEAR(std::exp(-sums.loss), weight[y] / total, 1e-12) << y;
  }
}

TEST_P(ModelContract, noise_sums_are_the_explicit_outer_products) {
  const Table table(config, x, y);
  const RowBatch all = table.all();
  Matrix outer = Matrix::Zero(d, d);
  Vector sum = Vector::Zero(d);
  for (std::size_t i = 0; i < all.count; ++i) {
    const Vector g = gradient(model, all.part(i, 1), theta);
    outer += g * g.transpose();
    sum += g;
  }
  const Noise found = noise(model, all);
  const Matrix lower = found.outer.topLeftCorner(d, d).selfadjointView<Eigen::Lower>();
  EXPECT_LT(relative_difference(lower, outer), 1e-12);
  EXPECT_LT(relative_difference(found.gradient, sum), 1e-11);
  EXPECT_EQ(found.rows, static_cast<double>(kRows));
}

TEST_P(ModelContract, noise_variance_sums_are_the_diagonal_of_the_noise_sums) {
  const Table table(config, x, y);
  const RowBatch all = table.all();
  const Noise full = noise(model, all);
  NoiseVariances parts{Vector::Zero(d), Vector::Zero(d), 0};
  NoiseVarianceSums sums{parts.gradient.data(), parts.squares.data()};
  model.add_noise_variances(all.part(0, 33), theta.data(), sums);
  model.add_noise_variances(all.part(33, all.count - 33), theta.data(), sums);
  EXPECT_LT(relative_difference(parts.squares, full.outer.diagonal().head(d)), 1e-12);
  EXPECT_LT(relative_difference(parts.gradient, full.gradient), 1e-11);
  EXPECT_EQ(sums.rows, full.rows);
}

TEST_P(ModelContract, sums_accumulate_over_calls) {
  const Table table(config, x, y);
  const RowBatch all = table.all();
  const Noise whole = noise(model, all);
  Noise parts{Vector::Zero(d), Matrix::Zero(whole.outer.rows(), whole.outer.cols()), 0};
  NoiseSums sums{parts.gradient.data(), parts.outer.data()};
  model.add_noise(all.part(0, 33), theta.data(), sums);
  model.add_noise(all.part(33, all.count - 33), theta.data(), sums);
  const Matrix difference = (parts.outer - whole.outer).triangularView<Eigen::Lower>();
  EXPECT_LT(difference.cwiseAbs().maxCoeff(), 1e-12 * whole.outer.cwiseAbs().maxCoeff());
  EXPECT_LT(relative_difference(parts.gradient, whole.gradient), 1e-11);
  EXPECT_EQ(sums.rows, whole.rows);
}

TEST_P(ModelContract, dense_and_sparse_rows_give_the_same) {
  const ModelConfig other_config = config_of(GetParam(), !GetParam().sparse);
  Model& other = make(other_config);
  const Table table(config, x, y);
  const Table other_table(other_config, x, y);
  const Matrix p = random_covariance(4, d);
  const CurvatureAt a = curvature(model, table.all(), theta, &p);
  const CurvatureAt b = curvature(other, other_table.all(), theta, &p);
  EXPECT_NEAR(a.loss, b.loss, 1e-12 * std::abs(b.loss));
  EXPECT_LT(relative_difference(a.gradient, b.gradient), 1e-11);
  EXPECT_LT(relative_difference(a.curvature, b.curvature), 1e-12);
  EXPECT_LT((a.third - b.third).cwiseAbs().maxCoeff(), 1e-12 * b.curvature.cwiseAbs().maxCoeff());
  const Matrix outer = noise(other, other_table.all()).outer;
  const Matrix difference =
      (noise(model, table.all()).outer - outer).triangularView<Eigen::Lower>();
  EXPECT_LT(difference.cwiseAbs().maxCoeff(), 1e-11 * outer.cwiseAbs().maxCoeff());
}

TEST_P(ModelContract, weight_minus_1_takes_rows_out_again) {
  const Table table(config, x, y);
  const RowBatch all = table.all();
  const Matrix p = random_covariance(4, d);
  const CurvatureAt rest = curvature(model, all.part(40, all.count - 40), theta, &p);
  CurvatureAt found = curvature(model, all, theta, &p);
  CurvatureSums sums{found.gradient.data(), found.padded.data(), found.third.data(), found.loss,
                     found.rows};
  model.add_curvature(all.part(0, 40), theta.data(), p.data(), -1.0, sums);
  EXPECT_EQ(sums.rows, rest.rows);
  EXPECT_NEAR(sums.loss, rest.loss, 1e-11 * std::abs(rest.loss));
  EXPECT_LT(relative_difference(found.gradient, rest.gradient), 1e-11);
  const Matrix difference = (found.padded - rest.padded).triangularView<Eigen::Lower>();
  EXPECT_LT(difference.cwiseAbs().maxCoeff(), 1e-12 * rest.padded.cwiseAbs().maxCoeff());
  EXPECT_LT((found.third - rest.third).cwiseAbs().maxCoeff(), 1e-12 * rest.padded.norm());
}

TEST_P(ModelContract, transform_equals_transformed_data) {
  const Vector shift =
      GetParam().sparse ? Vector::Zero(x.cols()) : Vector(3.0 * normals(6, x.cols(), 1));
  const Vector inverse_scale = (0.5 * normals(7, x.cols(), 1)).array().exp();
  const Matrix by_hand =
      (x.rowwise() - shift.transpose()).array().rowwise() * inverse_scale.transpose().array();
  Model& plain = make(config);
  for (Index j = 0; j < x.cols(); ++j) {
    model.transform().shift[static_cast<std::size_t>(j)] = shift(j);
    model.transform().inverse_scale[static_cast<std::size_t>(j)] = inverse_scale(j);
  }
  const Table raw(config, x, y);
  const Table transformed(config, by_hand, y);
  const Matrix p = random_covariance(4, d);
  const CurvatureAt a = curvature(model, raw.all(), theta, &p);
  const CurvatureAt b = curvature(plain, transformed.all(), theta, &p);
  EXPECT_NEAR(a.loss, b.loss, 1e-11 * std::abs(b.loss));
  EXPECT_LT(relative_difference(a.gradient, b.gradient), 1e-10);
  EXPECT_LT(relative_difference(a.curvature, b.curvature), 1e-11);
  EXPECT_LT((a.third - b.third).cwiseAbs().maxCoeff(), 1e-11 * b.curvature.cwiseAbs().maxCoeff());
  EXPECT_LT(relative_difference(gradient(model, raw.all(), theta),
                                gradient(plain, transformed.all(), theta)),
            1e-10);
  const Matrix difference = (noise(model, raw.all()).outer - noise(plain, transformed.all()).outer)
                                .triangularView<Eigen::Lower>();
  EXPECT_LT(difference.cwiseAbs().maxCoeff(), 1e-10 * noise(plain, transformed.all()).outer.norm());
  EXPECT_LT(relative_difference(noise_variances(model, raw.all()).squares,
                                noise_variances(plain, transformed.all()).squares),
            1e-11);
}

TEST_P(ModelContract, padding_never_leaks) {
  const Table clean(config, x, y);
  const Table dirty(config, x, y, 1e100);
  EXPECT_EQ(gradient(model, dirty.all(), theta), gradient(model, clean.all(), theta));
  const Matrix outer = noise(model, dirty.all()).outer;
  EXPECT_EQ(noise_variances(model, dirty.all()).squares,
            noise_variances(model, clean.all()).squares);
  const Matrix padded = curvature(model, dirty.all(), theta).padded;
  const auto w = static_cast<Index>(width);
  for (const Matrix& matrix : {outer, padded}) {
    EXPECT_EQ(matrix.rightCols(w - d), Matrix::Zero(w, w - d));
    EXPECT_EQ(matrix.bottomRows(w - d), Matrix::Zero(w - d, w));
  }
  Vector guarded = Vector::Constant(d + 1, 7.0);
  model.gradient_sum(clean.all(), theta.data(), guarded.data());
  EXPECT_EQ(guarded(d), 7.0) << "wrote past the end";
}

TEST_P(ModelContract, repeated_and_no_rows_count_as_given) {
  const Table table(config, x, y);
  const std::vector<std::uint32_t> thrice = {5, 5, 5};
  const std::vector<std::uint32_t> once = {5};
  EXPECT_LT(relative_difference(gradient(model, table.batch(thrice), theta),
                                3.0 * gradient(model, table.batch(once), theta)),
            1e-13);
  EXPECT_EQ(gradient(model, table.all().part(0, 0), theta), Vector::Zero(d));
}

TEST_P(ModelContract, passes_do_not_allocate) {
  if (!test_heap_calls()) GTEST_SKIP() << "sanitizers own the heap";
  const Table table(config, x, y);
  const Matrix p = random_covariance(4, d);
  const auto w = static_cast<Index>(width);
  Matrix outer = Matrix::Zero(w, w);
  Vector g = Vector::Zero(d);
  Vector third = Vector::Zero(d);
  const RowBatch all = table.all();
  const auto before = test_heap_calls();
  model.gradient_sum(all, theta.data(), g.data());
  NoiseSums noise_sums{g.data(), outer.data()};
  model.add_noise(all, theta.data(), noise_sums);
  NoiseVarianceSums variance_sums{g.data(), third.data()};
  model.add_noise_variances(all, theta.data(), variance_sums);
  CurvatureSums curvature_sums{g.data(), outer.data(), third.data()};
  model.add_curvature(all, theta.data(), p.data(), 1.0, curvature_sums);
  EXPECT_EQ(test_heap_calls(), before);
}

TEST(ModelRegistry, names_are_unique_and_found) {
  for (const ModelEntry& entry : model_registry()) {
    EXPECT_FALSE(entry.name.empty());
    EXPECT_FALSE(entry.likelihood.empty());
    EXPECT_EQ(find_model(entry.name), &entry) << "a second entry of the name " << entry.name;
    Memory memory;
    ModelConfig config;
    config.features = 3;
    EXPECT_EQ(entry.make(memory.arena(), config)->name(), entry.name);
  }
  EXPECT_EQ(find_model("no such model"), nullptr);
}

TEST(ModelRegistry, measured_memory_is_what_is_taken) {
  for (const ModelEntry& entry : model_registry()) {
    for (const std::uint32_t nonzeros : {0U, 5U}) {
      ModelConfig config;
      config.features = 9;
      config.max_nonzeros = nonzeros;
      Arena measuring = Arena::measuring();
      EXPECT_EQ(entry.make(measuring, config), nullptr);
      Memory exact(measuring.used());
      EXPECT_NE(entry.make(exact.arena(), config), nullptr);
      EXPECT_EQ(exact.arena().used(), measuring.used());
      Memory short_by_one(measuring.used() - 1);
      entry.make(short_by_one.arena(), config);
      EXPECT_TRUE(short_by_one.arena().exhausted());
    }
  }
}

Model& logistic(Memory& memory) {
  ModelConfig config;
  config.features = 1;
  return *find_model("logistic")->make(memory.arena(), config);
}

TEST(LogisticModel, targets_other_than_0_and_1_are_refused) {
  Memory memory;
  const Model& model = logistic(memory);
  for (const double y : {0.0, 1.0}) EXPECT_EQ(model.check_target(y), Status::kOk);
  for (const double y : {-1.0, 0.5, 2.0, static_cast<double>(NAN)}) {
    EXPECT_EQ(model.check_target(y), Status::kTargetOutOfDomain) << y;
  }
}

TEST(LogisticModel, extreme_predictors_give_finite_sums) {
  Memory memory;
  Model& model = logistic(memory);
  find_model("logistic")->reset(model);
  ModelConfig config;
  config.features = 1;
  const Table table(config, Matrix{{1e4}, {-1e4}, {1e4}}, Vector{{1.0, 0.0, 0.0}});
  const Vector theta{{1.0, 0.0}};
  Vector g(2);
  Vector third = Vector::Zero(2);
  Matrix matrix = Matrix::Zero(4, 4);
  CurvatureSums sums{g.setZero().data(), matrix.data(), third.data()};
  const Matrix p = Matrix::Identity(2, 2);
  model.add_curvature(table.all(), theta.data(), p.data(), 1.0, sums);
  EXPECT_NEAR(sums.loss, 1e4, 1e-9);  // only the third row is on the wrong side
  EXPECT_NEAR(g(0), 1e4, 1e-9);
  EXPECT_TRUE(matrix.allFinite());
  EXPECT_TRUE(third.allFinite());
  for (const double eta : {-1e4, -1.0, 0.0, 1.0, 1e4}) {
    EXPECT_NEAR(model.mean(eta) + model.mean(-eta), 1.0, 1e-15) << eta;
  }
}

Model& made(Memory& memory, const ModelConfig& config) {
  Model& model = *find_model(config.name)->make(memory.arena(), config);
  find_model(config.name)->reset(model);
  return model;
}

// Sums over one row with x = 1 and no intercept, at eta.
struct ScalarSums {
  double gradient = 0, curvature = 0, third = 0, loss = 0, squares = 0;
};
ScalarSums scalar_sums(Model& model, const ModelConfig& config, double eta, double y) {
  const Table table(config, Matrix::Ones(1, 1), Vector::Constant(1, y));
  const double one = 1;
  double gradient = 0;
  double third = 0;
  Matrix matrix = Matrix::Zero(4, 4);
  CurvatureSums sums{&gradient, matrix.data(), &third};
  model.add_curvature(table.all(), &eta, &one, 1.0, sums);
  return {gradient, matrix(0, 0), third, sums.loss, sums.squares};
}

ModelConfig scalar_config(std::string_view name) {
  ModelConfig config;
  config.name = name;
  config.features = 1;
  config.intercept = false;
  return config;
}

TEST(PoissonModel, targets_that_are_no_counts_are_refused) {
  Memory memory;
  const Model& model = made(memory, scalar_config("poisson"));
  for (const double y : {0.0, 1.0, 7.0, 0x1.0p53}) EXPECT_EQ(model.check_target(y), Status::kOk);
  for (const double y : {-1.0, 0.5, 1e16, static_cast<double>(NAN)}) {
    EXPECT_EQ(model.check_target(y), Status::kTargetOutOfDomain) << y;
  }
}

TEST(PoissonModel, loss_is_smooth_and_finite_however_large_the_predictor) {
  Memory memory;
  const ModelConfig config = scalar_config("poisson");
  Model& model = made(memory, config);
  for (const double eta : {-1e4, 0.0, 49.9999, 50.0001, 60.0, 1e4, 1e50}) {
    const ScalarSums at = scalar_sums(model, config, eta, 3.0);
    EXPECT_TRUE(std::isfinite(at.loss + at.gradient + at.curvature + at.third)) << eta;
    EXPECT_GE(at.curvature, 0);
  }
  const ScalarSums below = scalar_sums(model, config, 50 - 1e-9, 3.0);
  const ScalarSums above = scalar_sums(model, config, 50 + 1e-9, 3.0);
  EXPECT_NEAR(above.loss / below.loss, 1.0, 1e-8);
  EXPECT_NEAR(above.gradient / below.gradient, 1.0, 1e-8);
  EXPECT_NEAR(above.curvature / below.curvature, 1.0, 1e-8);
}

TEST(StudentModel, curvature_is_the_expected_hessian_and_weights_make_the_squares) {
  for (const double nu : {3.0, 4.0, 30.0}) {
    for (const double dispersion : {0.25, 9.0}) {
      Memory memory;
      ModelConfig config = scalar_config("student-t");
      config.degrees_of_freedom = nu;
      Model& model = made(memory, config);
      model.set_dispersion(dispersion);
      const double eta = 0.7;
      const double sigma = std::sqrt(dispersion);
      // Over y = eta + sigma sinh(u), so that heavy tails are reached.
      double total = 0, information = 0, squares = 0;
      for (double u = -16; u <= 16; u += 0.05) {
        const double y = eta + sigma * std::sinh(u);
        const ScalarSums at = scalar_sums(model, config, eta, y);
        const double density = std::exp(-at.loss / dispersion) * std::cosh(u);
        total += density;
        information += density * at.gradient * at.gradient / dispersion;
        squares += density * at.squares;
        EXPECT_NEAR(at.curvature, (nu + 1) / (nu + 3), 1e-15);
      }
      // E[g g^T] = E[Hessian] (the information equality), and the weighted squares estimate
      // sigma^2.
      EXPECT_NEAR(information / total, (nu + 1) / (nu + 3), 1e-6) << nu;
      EXPECT_NEAR(squares / total, dispersion, 1e-6 * dispersion) << nu;
    }
  }
}

// One Newton step from 0 with these sums is the weighted fit of what start() suggests.
TEST(ModelStart, one_step_from_0_is_the_weighted_least_squares_fit) {
  for (const ModelEntry& entry : model_registry()) {
    Memory memory;
    ModelConfig config;
    config.name = entry.name;
    config.features = 2;
    Model& model = made(memory, config);
    if (!model.has_start()) continue;
    const Matrix x = normals(1, 60, 2);
    Vector y(60);
    Vector eta(60);
    Vector weight(60);
    for (Index i = 0; i < 60; ++i) {
      const bool count = entry.response == Response::kCount;
      y(i) = count ? std::floor(std::exp(2 + x(i, 0))) : x(i, 1) - 3;
      eta(i) = count ? std::log(y(i) + 0.1) : y(i);
      weight(i) = count ? y(i) + 0.1 : 1.0;
    }
    // Working responses: eta - residual / weight, residual 0.1 for the counts and 0 otherwise.
    const Vector working =
        entry.response == Response::kCount ? Vector(eta - 0.1 * weight.cwiseInverse()) : eta;
    Matrix design(60, 3);
    design << x, Vector::Ones(60);
    const Vector expected = (design.transpose() * weight.asDiagonal() * design)
                                .ldlt()
                                .solve(design.transpose() * weight.cwiseProduct(working));
    const Table table(config, x, y);
    Vector g = Vector::Zero(3);
    Matrix matrix = Matrix::Zero(4, 4);
    CurvatureSums sums{g.data(), matrix.data(), nullptr};
    model.add_start(table.all(), sums);
    const Matrix a = matrix.topLeftCorner(3, 3).selfadjointView<Eigen::Lower>();
    EXPECT_LT(relative_difference(Vector(-a.ldlt().solve(g)), expected), 1e-10) << entry.name;
    EXPECT_EQ(sums.rows, 60);
  }
}

}  // namespace
}  // namespace windhover
