// What the tests of the samplers share: memory, random matrices, rows, and the distance between
// Gaussians.
#ifndef WINDHOVER_TESTS_SAMPLERS_SUPPORT_H_
#define WINDHOVER_TESTS_SAMPLERS_SUPPORT_H_

#include <Eigen/Dense>
#include <cmath>
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

inline Matrix normals(std::uint64_t seed, Index rows, Index columns) {
  Matrix z(rows, columns);
  fill_normals(seed, {}, {z.data(), static_cast<std::size_t>(z.size())});
  return z;
}

// Positive definite, condition number of the order of 10 for any dimension.
inline Matrix random_covariance(std::uint64_t seed, Index d) {
  const Matrix z = normals(seed, d, 2 * d);
  return z * z.transpose() / static_cast<double>(2 * d);
}

// Positive semi-definite of the given rank.
inline Matrix random_singular(std::uint64_t seed, Index d, Index rank) {
  const Matrix z = normals(seed, d, rank);
  return z * z.transpose() / static_cast<double>(d);
}

inline double relative_difference(const Matrix& a, const Matrix& b) {
  return (a - b).cwiseAbs().maxCoeff() / (b.cwiseAbs().maxCoeff() + 1e-300);
}

// KL(N(m, Sigma) || N(0, precision^-1)), without loss of digits near 0.
inline double gaussian_kl(const Matrix& sigma, const Matrix& precision, const Vector& m) {
  const Matrix root = precision.llt().matrixL();
  const Vector eigenvalues =
      Eigen::SelfAdjointEigenSolver<Matrix>(root.transpose() * sigma * root).eigenvalues();
  double kl = 0.5 * (root.transpose() * m).squaredNorm();
  for (const double lambda : eigenvalues) kl += 0.5 * (lambda - 1.0 - std::log(lambda));
  return kl;
}
inline double gaussian_kl(const Matrix& sigma, const Matrix& precision) {
  return gaussian_kl(sigma, precision, Vector::Zero(sigma.rows()));
}

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

inline Law law_of(const AnySampler& sampler, Index d) {
  Law law{Matrix::Constant(d, d, NAN), Matrix::Constant(d, d, NAN), sampler.momentum()};
  sampler.law(law.h.data(), law.injected.data());
  return law;
}

// A chain with memory of its own, guarded and full of NaN until start() has written it.
class OwnedChain {
 public:
  OwnedChain(const SamplerEntry& entry, const SamplerConfig& config, const Vector& theta)
      : theta_(theta),
        state_(Vector::Constant(
            static_cast<Index>(entry.state_size(config, static_cast<std::uint32_t>(theta.size()))) +
                kGuard,
            NAN)),
        work_(Vector::Constant(
            static_cast<Index>(step_scratch(static_cast<std::uint32_t>(theta.size()))) + kGuard,
            NAN)),
        chain_{theta_.data(), 0, state_.data(), work_.data()} {}
  OwnedChain(const OwnedChain&) = delete;

  Chain& get() { return chain_; }
  Vector& theta() { return theta_; }
  auto state() const { return state_.head(state_.size() - kGuard); }
  bool guard_is_untouched() const {
    return state_.tail(kGuard).array().isNaN().all() && work_.tail(kGuard).array().isNaN().all();
  }

 private:
  static constexpr Index kGuard = 8;
  Vector theta_;
  Vector state_;
  Vector work_;
  Chain chain_;
};

// A sampler of the registry by name, refreshed once, and its law.
inline std::optional<Law> law_of(std::string_view name, const SamplerConfig& config,
                                 const OwnedEstimates& estimates) {
  Memory memory;
  const Index d = estimates.curvature.rows();
  AnySampler* sampler =
      find_sampler(name)->make(memory.arena(), config, static_cast<std::uint32_t>(d));
  if (!ok(sampler->refresh(estimates.view()))) return std::nullopt;
  return law_of(*sampler, d);
}

// Neither noise beyond the minibatch's own nor a bound: the bare samplers.
inline SamplerConfig noiseless_config() {
  SamplerConfig config;
  config.injected_noise = 0;
  config.noise_scale = 0;
  config.temperature = 0;
  return config;
}

// "sgd-d" as a GoogleTest parameter name.
inline std::string test_name(std::string_view name) {
  std::string result(name);
  for (char& c : result) c = c == '-' ? '_' : c;
  return result;
}

// Rows as they lie in the window, made from a matrix of features and a vector of targets. The
// padding of dense rows holds `padding`.
class Table {
 public:
  Table(const ModelConfig& config, const Matrix& x, const Vector& y, double padding = 0.0)
      : layout_(config) {
    const auto rows = static_cast<std::size_t>(x.rows());
    storage_.assign(rows * layout_.stride(), padding);
    slots_.resize(rows);
    for (std::size_t i = 0; i < rows; ++i) {
      slots_[i] = static_cast<std::uint32_t>(i);
      write(x.row(static_cast<Index>(i)), y(static_cast<Index>(i)),
            storage_.data() + i * layout_.stride());
    }
  }

  RowBatch all() const { return batch(slots_); }
  RowBatch batch(const std::vector<std::uint32_t>& slots) const {
    return {storage_.data(), slots.data(), slots.size()};
  }

 private:
  void write(const Eigen::RowVectorXd& x, double y, double* row) const {
    row[layout_.target_index()] = y;
    if (!layout_.sparse()) {
      for (Index j = 0; j < x.size(); ++j) row[j] = x(j);
      return;
    }
    std::uint32_t count = 0;
    auto* indices = reinterpret_cast<std::uint32_t*>(row + layout_.indices_index());
    for (Index j = 0; j < x.size(); ++j) {
      if (x(j) == 0) continue;
      row[RowLayout::kValuesIndex + count] = x(j);
      indices[count++] = static_cast<std::uint32_t>(j);
    }
    row[RowLayout::kCountIndex] = count;
  }

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

  void gradient_sum(const RowBatch& batch, const double*, double* gradient) noexcept override {
    for (std::size_t j = 0; j < layout_.features(); ++j) {
      gradient[j] = 0;
      for (std::size_t i = 0; i < batch.count; ++i) gradient[j] += row(batch, i)[j];
    }
  }
  void add_noise(const RowBatch& batch, const double*, NoiseSums& sums) noexcept override {
    const std::size_t d = layout_.features();
    for (std::size_t i = 0; i < batch.count; ++i) {
      const double* g = row(batch, i);
      for (std::size_t j = 0; j < d; ++j) {
        sums.gradient[j] += g[j];
        for (std::size_t k = 0; k < d; ++k) sums.outer[j * matrix_width(d) + k] += g[j] * g[k];
      }
    }
    sums.rows += static_cast<double>(batch.count);
  }
  void add_noise_variances(const RowBatch& batch, const double*,
                           NoiseVarianceSums& sums) noexcept override {
    for (std::size_t i = 0; i < batch.count; ++i) {
      const double* g = row(batch, i);
      for (std::size_t j = 0; j < layout_.features(); ++j) {
        sums.gradient[j] += g[j];
        sums.squares[j] += g[j] * g[j];
      }
    }
    sums.rows += static_cast<double>(batch.count);
  }
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
  void gradient_sum(const RowBatch& batch, const double* theta,
                    double* gradient) noexcept override {
    gradient_(theta, gradient);
    for (std::size_t j = 0; j < dimension_; ++j) gradient[j] *= static_cast<double>(batch.count);
  }
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
  FunctionGradient(Index dimension, FunctionModel::Gradient gradient)
      : model_(dimension, std::move(gradient)),
        prior_(Vector::Zero(dimension)),
        source_(&model_, static_cast<std::uint32_t>(dimension), prior_.data()) {
    source_.set_scale(1.0, 1.0);
    source_.set_minibatch({nullptr, &slot_, 1});
  }
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
