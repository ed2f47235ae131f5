// Contract tests: every model of the registry, dense and sparse, with and without an intercept.
// Those of the derivatives are in model_derivatives_test.cc.
#include "windhover/samplers/models/model.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "windhover/tests/samplers/heap_calls.h"
#include "windhover/tests/samplers/model_contract.h"

namespace windhover {

INSTANTIATE_TEST_SUITE_P(Registry, ModelContract, testing::ValuesIn(model_cases()),
                         model_case_name);

namespace {

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

TEST_P(ModelContract, row_gradients_are_those_of_each_row_alone) {
  const Table table(config, x, y);
  const RowBatch all = table.all();
  Matrix found = Matrix::Constant(d, static_cast<Index>(all.count), NAN);
  model.row_gradients(all, static_cast<std::size_t>(d), theta.data(), found.data());
  for (std::size_t i = 0; i < all.count; ++i) {
    const Vector alone = gradient(model, all.part(i, 1), theta);
    EXPECT_LT((found.col(static_cast<Index>(i)) - alone).cwiseAbs().maxCoeff(),
              1e-12 * (1 + alone.cwiseAbs().maxCoeff()))
        << i;
  }
}

TEST_P(ModelContract, loss_sum_is_the_loss_beside_the_curvature) {
  const Table table(config, x, y);
  const RowBatch all = table.all();
  const double loss = curvature(model, all, theta, nullptr).loss;
  EXPECT_NEAR(model.loss_sum(all, theta.data()), loss, 1e-12 * std::abs(loss));
  EXPECT_NEAR(model.loss_sum(all.part(0, 3), theta.data()) +
                  model.loss_sum(all.part(3, all.count - 3), theta.data()),
              loss, 1e-12 * std::abs(loss));
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

// y = shift + scale y' for normal and Student's t noise, its logarithm for log-normal y; of counts
// the linear predictor is shifted, which the intercept of another model can stand for.
TEST_P(ModelContract, target_transform_equals_transformed_targets) {
  const bool count = is_count(model.response());
  if (!has_target_units(model.response()) || (count && !config.intercept)) return;
  TargetTransform target{count ? 0.7 : 1e4, count ? 1.0 : 320.0};
  Vector raw = count ? y : Vector((target.scale * y).array() + target.shift);
  if (model.response() == Response::kLogNormal) {  // log y = shift + scale log y'
    target = {3.0, 2.0};
    raw = y.array().pow(target.scale) * std::exp(target.shift);
  }
  Vector plain_theta = theta;
  if (count) plain_theta(d - 1) += target.shift;
  Model& plain = make(config);
  for (Model* m : {&model, &plain}) {
    if (!GetParam().sparse) std::ranges::fill(m->transform().shift, 0.3);
    std::ranges::fill(m->transform().inverse_scale, 1.5);
  }
  model.target() = target;
  for (Model* m : {&model, &plain}) m->set_dispersion(1.7);
  const Table as_came(config, x, raw);
  const Table transformed(config, x, y);
  const Matrix p = random_covariance(4, d);
  // The digits that the shift takes, in units of the scale, in sums of some hundred terms.
  const double rounding = 1e-11 * std::max(1.0, std::abs(target.shift) / target.scale);
  const CurvatureAt a = curvature(model, as_came.all(), theta, &p);
  const CurvatureAt b = curvature(plain, transformed.all(), plain_theta, &p);
  EXPECT_NEAR(a.loss, b.loss, rounding * std::abs(b.loss));
  EXPECT_NEAR(a.squares, b.squares, rounding * std::abs(b.squares));
  EXPECT_LT(relative_difference(a.gradient, b.gradient), rounding);
  EXPECT_LT(relative_difference(a.curvature, b.curvature), rounding);
  EXPECT_LT((a.third - b.third).cwiseAbs().maxCoeff(),
            rounding * b.curvature.cwiseAbs().maxCoeff());
  EXPECT_LT(relative_difference(gradient(model, as_came.all(), theta),
                                gradient(plain, transformed.all(), plain_theta)),
            rounding);
  Matrix rows(d, kRows);
  Matrix plain_rows(d, kRows);
  model.row_gradients(as_came.all(), static_cast<std::size_t>(d), theta.data(), rows.data());
  plain.row_gradients(transformed.all(), static_cast<std::size_t>(d), plain_theta.data(),
                      plain_rows.data());
  EXPECT_LT(relative_difference(rows, plain_rows), rounding);
  const Vector before = theta;
  const Matrix outer = noise(model, as_came.all()).outer;
  const Vector squares = noise_variances(model, as_came.all()).squares;
  theta = plain_theta;
  const Matrix plain_outer = noise(plain, transformed.all()).outer;
  const Matrix difference = (outer - plain_outer).triangularView<Eigen::Lower>();
  EXPECT_LT(difference.cwiseAbs().maxCoeff(), rounding * plain_outer.norm());
  EXPECT_LT(relative_difference(squares, noise_variances(plain, transformed.all()).squares),
            rounding);
  theta = before;
}

// What the targets suggest for a start does not depend on the units they are in.
TEST_P(ModelContract, start_does_not_depend_on_the_units_of_the_targets) {
  if (!model.has_start() || !config.intercept || !has_target_units(model.response())) return;
  const bool count = is_count(model.response());
  const TargetTransform target{count ? 0.7 : 1e4, count ? 1.0 : 320.0};
  const Vector raw = count ? y : Vector((target.scale * y).array() + target.shift);
  Model& plain = make(config);
  model.target() = target;
  for (Model* m : {&model, &plain}) m->set_dispersion(1.7);
  const auto minimum = [&](Model& m, const Table& table) {
    const CurvatureAt start = start_sums(m, table.all());
    return Vector(-start.curvature.ldlt().solve(start.gradient));
  };
  Vector expected = minimum(plain, Table(config, x, y));
  if (count) expected(d - 1) -= target.shift;
  EXPECT_LT(relative_difference(minimum(model, Table(config, x, raw)), expected), 1e-8);
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

}  // namespace
}  // namespace windhover
