// What the tests of the samplers share: memory, random matrices, rows, and the distance between
// Gaussians.
#ifndef WINDHOVER_TESTS_SAMPLERS_SUPPORT_H_
#define WINDHOVER_TESTS_SAMPLERS_SUPPORT_H_

#include <Eigen/Dense>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "windhover/platform/arena.h"
#include "windhover/platform/memory.h"
#include "windhover/platform/random.h"
#include "windhover/samplers/registry.h"
#include "windhover/samplers/rows.h"

namespace windhover {

using Eigen::Index;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

// An arena whose doubles are all NaN, so that what is read before it is written shows.
class Memory {
 public:
  explicit Memory(std::size_t bytes = std::size_t{1} << 22)
      : block_(bytes), arena_(filled(block_.bytes())) {}
  Arena& arena() { return arena_; }

 private:
  static std::span<std::byte> filled(std::span<std::byte> bytes) {
    std::memset(bytes.data(), 0xff, bytes.size());
    return bytes;
  }

  MappedBlock block_;
  Arena arena_;
};

Matrix normals(std::uint64_t seed, Index rows, Index columns);

// Positive definite, condition number of the order of 10 for any dimension.
Matrix random_covariance(std::uint64_t seed, Index d);

// Positive semi-definite of the given rank.
Matrix random_singular(std::uint64_t seed, Index d, Index rank);

double relative_difference(const Matrix& a, const Matrix& b);

// Compiled once: each is some seconds' work wherever its solver is instantiated.
Eigen::SelfAdjointEigenSolver<Matrix> symmetric_eigen(const Matrix& matrix);
Vector generalized_eigenvalues(const Matrix& a, const Matrix& b);  // of A v = lambda B v
double spectral_radius(const Matrix& matrix);

// KL(N(m, Sigma) || N(0, precision^-1)), without loss of digits near 0.
double gaussian_kl(const Matrix& sigma, const Matrix& precision, const Vector& m);
double gaussian_kl(const Matrix& sigma, const Matrix& precision);

// A, C, n and S for a sampler, owning the matrices.
struct OwnedEstimates {
  Matrix curvature;
  Matrix noise;
  double n = 2000;
  double minibatch_size = 50;

  Estimates view() const {
    return {static_cast<std::uint32_t>(curvature.rows()), n, minibatch_size, curvature.data(),
            noise.data()};
  }
};

// What a sampler moves by: v <- momentum v - H (gradient + injected), theta <- theta + v.
struct Law {
  Matrix h;
  Matrix injected;
  double momentum = 0;
};

Law law_of(const AnySampler& sampler, Index d);

// A chain with memory of its own, guarded and full of NaN until start() has written it.
class OwnedChain {
 public:
  OwnedChain(const SamplerEntry& entry, const SamplerConfig& config, const Vector& theta);
  OwnedChain(const OwnedChain&) = delete;

  Chain& get() { return chain_; }
  Vector& theta() { return theta_; }
  Eigen::VectorBlock<const Vector> state() const;
  bool guard_is_untouched() const;

 private:
  static constexpr Index kGuard = 8;
  Vector theta_;
  Vector state_;
  Vector work_;
  Chain chain_;
};

// A sampler of the registry by name, refreshed once, and its law.
std::optional<Law> law_of(std::string_view name, const SamplerConfig& config,
                          const OwnedEstimates& estimates);

// The bare samplers: neither noise beyond the minibatch's own nor a bound.
SamplerConfig noiseless_config();

// "sgd-d" as a GoogleTest parameter name.
std::string test_name(std::string_view name);

// Rows as they lie in the window, made from a matrix of features and a vector of targets. The
// padding of dense rows holds `padding`. Offsets are 0 and weights 1 unless they are given; the
// trials of a binomial model are as many as succeeded, or one or two more.
class Table {
 public:
  Table(const ModelConfig& config, const Matrix& x, const Vector& y, double padding = 0.0,
        const Vector& offsets = {}, const Vector& weights = {});

  RowBatch all() const { return batch(slots_); }
  RowBatch batch(const std::vector<std::uint32_t>& slots) const {
    return {storage_.data(), slots.data(), slots.size()};
  }

 private:
  void write(const Eigen::RowVectorXd& x, double y, double* row) const;

  RowLayout layout_;
  std::vector<double> storage_;
  std::vector<std::uint32_t> slots_;
};

// A model whose row gradients are the rows' features themselves, whatever theta is.
class RowGradientModel final : public Model {
 public:
  explicit RowGradientModel(const ModelConfig& config) : layout_(config) {}
  std::string_view name() const noexcept override { return "row gradient"; }
  Response response() const noexcept override { return Response::kGaussian; }
  Status check_target(double) const noexcept override { return Status::kOk; }
  bool quadratic() const noexcept override { return false; }
  double mean(double predictor) const noexcept override { return predictor; }
  FeatureTransform& transform() noexcept override { return transform_; }

  void gradient_sum(const RowBatch& batch, const double*, double* gradient) noexcept override;
  void add_noise(const RowBatch& batch, const double*, NoiseSums& sums) noexcept override;
  void add_noise_variances(const RowBatch& batch, const double*,
                           NoiseVarianceSums& sums) noexcept override;
  void add_curvature(const RowBatch&, const double*, const double*, double,
                     CurvatureSums&) noexcept override {}

 private:
  const double* row(const RowBatch& batch, std::size_t i) const {
    return batch.base + batch.slots[i] * layout_.stride();
  }

  RowLayout layout_;
  FeatureTransform transform_;
};

// A model whose every row has the gradient that a function of theta says.
class FunctionModel final : public Model {
 public:
  using Gradient = std::function<void(const double* theta, double* gradient)>;
  FunctionModel(Index dimension, Gradient gradient)
      : dimension_(static_cast<std::size_t>(dimension)), gradient_(std::move(gradient)) {}
  std::string_view name() const noexcept override { return "function"; }
  Response response() const noexcept override { return Response::kGaussian; }
  Status check_target(double) const noexcept override { return Status::kOk; }
  bool quadratic() const noexcept override { return false; }
  double mean(double predictor) const noexcept override { return predictor; }
  FeatureTransform& transform() noexcept override { return transform_; }
  void gradient_sum(const RowBatch& batch, const double* theta, double* gradient) noexcept override;
  void add_noise(const RowBatch&, const double*, NoiseSums&) noexcept override {}
  void add_noise_variances(const RowBatch&, const double*, NoiseVarianceSums&) noexcept override {}
  void add_curvature(const RowBatch&, const double*, const double*, double,
                     CurvatureSums&) noexcept override {}

 private:
  std::size_t dimension_;
  Gradient gradient_;
  FeatureTransform transform_;
};

// The gradient of a mean loss that a function of theta gives, without a prior.
class FunctionGradient {
 public:
  FunctionGradient(Index dimension, FunctionModel::Gradient gradient);
  FunctionGradient(const FunctionGradient&) = delete;
  GradientSource& source() { return source_; }

 private:
  std::uint32_t slot_ = 0;
  FunctionModel model_;
  Vector prior_;
  GradientSource source_;
};

}  // namespace windhover

#endif  // WINDHOVER_TESTS_SAMPLERS_SUPPORT_H_
