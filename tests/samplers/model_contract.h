// The contract of a model, for every model of the registry, dense and sparse, with and without an
// intercept: what its tests share. They are instantiated in model_test.cc.
#ifndef WINDHOVER_TESTS_SAMPLERS_MODEL_CONTRACT_H_
#define WINDHOVER_TESTS_SAMPLERS_MODEL_CONTRACT_H_

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "windhover/samplers/models/model.h"
#include "windhover/tests/samplers/support.h"

namespace windhover {

inline constexpr Index kRows = 150;  // more than one chunk of the implementation, no multiple of 4

struct ModelCase {
  std::string_view model;
  std::uint32_t features;
  bool intercept;
  bool sparse;
};

std::vector<ModelCase> model_cases();

std::string model_case_name(const testing::TestParamInfo<ModelCase>& instance);

ModelConfig config_of(const ModelCase& c, bool sparse);

class ModelContract : public testing::TestWithParam<ModelCase> {
 protected:
  ModelContract();

  Model& make(const ModelConfig& model_config);

  // A third of the entries is 0.
  Matrix features() const;
  // Real numbers where the model takes them, otherwise counts, otherwise 0 and 1.
  Vector targets() const;

  struct Noise {
    Vector gradient;
    Matrix outer;
    double rows;
  };
  Noise noise(Model& m, const RowBatch& batch) const;

  struct NoiseVariances {
    Vector gradient;
    Vector squares;
    double rows;
  };
  NoiseVariances noise_variances(Model& m, const RowBatch& batch) const;

  struct CurvatureAt {
    Vector gradient;
    Matrix curvature;  // both triangles, d x d
    Matrix padded;
    Vector third;
    double loss = 0;
    double rows = 0;
    double squares = 0;
    double weight = 0;
    double squared_weight = 0;
    double shape_gradient = 0;
    double shape_curvature = 0;
  };
  CurvatureAt curvature(Model& m, const RowBatch& batch, const Vector& at,
                        const Matrix* covariance = nullptr) const;

  // Gradient and curvature as Model::add_start() sums them.
  CurvatureAt start_sums(Model& m, const RowBatch& batch) const;

  // The Hessian by central differences of the gradient.
  Matrix hessian(const Table& table, const Vector& at, double size) const;

  Vector gradient(Model& m, const RowBatch& batch, const Vector& at) const;

  Memory memory;
  ModelConfig config;
  Index d;
  std::size_t width;
  Matrix x;
  Model& model;
  Vector y;
  Vector theta;
};

}  // namespace windhover

#endif  // WINDHOVER_TESTS_SAMPLERS_MODEL_CONTRACT_H_
