#include "windhover/tests/samplers/model_contract.h"

#include <algorithm>
#include <cmath>

namespace windhover {

std::vector<ModelCase> model_cases() {
  std::vector<ModelCase> all;
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

std::string model_case_name(const testing::TestParamInfo<ModelCase>& instance) {
  const ModelCase& c = instance.param;
  return test_name(c.model) + "_" + std::to_string(c.features) + (c.intercept ? "_intercept" : "") +
         (c.sparse ? "_sparse" : "_dense");
}

ModelConfig config_of(const ModelCase& c, bool sparse) {
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

ModelContract::ModelContract()
    : config(config_of(GetParam(), GetParam().sparse)),
      d(config.dimension()),
      width(matrix_width(config.dimension())),
      x(features()),
      model(make(config)),
      y(targets()),
      theta(0.7 * normals(3, d, 1)) {}

Model& ModelContract::make(const ModelConfig& model_config) {
  const ModelEntry* entry = find_model(model_config.name);
  Model* made = entry->make(memory.arena(), model_config);
  entry->reset(*made);
  return *made;
}

Matrix ModelContract::features() const {
  const Matrix z = normals(1, kRows, config.features);
  return (z.array().abs() < 0.43).select(0.0, z);
}

Vector ModelContract::targets() const {
  Vector z = normals(2, kRows, 1);
  for (double& value : z) {
    if (model.response() == Response::kLogNormal) value = std::exp(value);
    if (ok(model.check_target(value))) continue;
    const double count = std::floor(3 * std::abs(value));
    const double most = ok(model.check_target(9.0)) ? 9.0 : ok(model.check_target(2.0)) ? 2.0 : 1.0;
    value = std::min(count, most);
  }
  return z;
}

ModelContract::Noise ModelContract::noise(Model& m, const RowBatch& batch) const {
  const auto w = static_cast<Index>(width);
  Noise result{Vector::Zero(d), Matrix::Zero(w, w), 0};
  NoiseSums sums{result.gradient.data(), result.outer.data()};
  m.add_noise(batch, theta.data(), sums);
  result.rows = sums.rows;
  return result;
}

ModelContract::NoiseVariances ModelContract::noise_variances(Model& m,
                                                             const RowBatch& batch) const {
  NoiseVariances result{Vector::Zero(d), Vector::Zero(d), 0};
  NoiseVarianceSums sums{result.gradient.data(), result.squares.data()};
  m.add_noise_variances(batch, theta.data(), sums);
  result.rows = sums.rows;
  return result;
}

ModelContract::CurvatureAt ModelContract::curvature(Model& m, const RowBatch& batch,
                                                    const Vector& at,
                                                    const Matrix* covariance) const {
  const auto w = static_cast<Index>(width);
  CurvatureAt result{Vector::Zero(d), {}, Matrix::Zero(w, w), Vector::Zero(d)};
  CurvatureSums sums{result.gradient.data(), result.padded.data(), result.third.data()};
  m.add_curvature(batch, at.data(), covariance == nullptr ? nullptr : covariance->data(), 1.0,
                  sums);
  result.curvature = result.padded.topLeftCorner(d, d).selfadjointView<Eigen::Lower>();
  result.loss = sums.loss;
  result.rows = sums.rows;
  result.squares = sums.squares;
  result.weight = sums.weight;
  result.squared_weight = sums.squared_weight;
  result.shape_gradient = sums.shape_gradient;
  result.shape_curvature = sums.shape_curvature;
  return result;
}

ModelContract::CurvatureAt ModelContract::start_sums(Model& m, const RowBatch& batch) const {
  const auto w = static_cast<Index>(width);
  CurvatureAt result{Vector::Zero(d), {}, Matrix::Zero(w, w), Vector::Zero(d)};
  CurvatureSums sums{result.gradient.data(), result.padded.data(), result.third.data()};
  m.add_start(batch, sums);
  result.curvature = result.padded.topLeftCorner(d, d).selfadjointView<Eigen::Lower>();
  result.weight = sums.weight;
  return result;
}

Matrix ModelContract::hessian(const Table& table, const Vector& at, double size) const {
  Matrix h(d, d);
  for (Index j = 0; j < d; ++j) {
    const Vector step = size * Vector::Unit(d, j);
    h.col(j) = (gradient(model, table.all(), at + step) - gradient(model, table.all(), at - step)) /
               (2 * size);
  }
  return h;
}

Vector ModelContract::gradient(Model& m, const RowBatch& batch, const Vector& at) const {
  Vector g = Vector::Constant(d, NAN);
  m.gradient_sum(batch, at.data(), g.data());
  return g;
}

}  // namespace windhover
